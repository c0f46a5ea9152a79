import { Signature } from '../../compiler/record/signature.js'
import type { CompiledFile } from './compiled-file.js'
import { countOf } from '../inspect/inspect-model.js'
import { dtypeName, itemSize } from '../../runtime/tensor/dtype.js'
import { numelOf } from '../../runtime/tensor/shape.js'
import { formatBytes } from '../format-bytes.js'
import { methodText, section, trainingSection } from './format.js'

export type CompiledReport = ReturnType<typeof compiledReport>

/** What a .ptlc file holds; `reason` says why its plans cannot be used here, `replacement` that its original has been replaced, null for neither. */
export function compiledReport(
  { bytes, about, plans, states, constantBytes }: CompiledFile,
  reason: string | null,
  replacement: string | null,
) {
  return {
    kind: 'ptlc' as const,
    bytes,
    library: about.library,
    level: about.level,
    levels: [...new Set(about.kernels.map(({ level }) => level))].sort(),
    usable: reason === null,
    reason,
    original: { name: about.original, bytes: about.originalBytes, sha256: about.sha256, fingerprint: about.fingerprint, replacement },
    bytecodeVersion: about.bytecodeVersion,
    operatorVersion: about.operatorVersion,
    methods: about.methods.map(({ name, arguments: list }) => ({ name, schema: methodText(name, list) })),
    operators: about.operators,
    constantBytes,
    plans: plans.map(({ method, example, kernels, placement, operators }) => ({
      method,
      signature: Signature.of(example)?.toString() ?? 'objects',
      frames: kernels.length,
      kernels: countOf(kernels),
      operators,
      arenaBytes: placement.arenaBytes,
      lowerBound: placement.lowerBound,
      naiveBytes: placement.naiveBytes,
      outputBytes: placement.outputs.reduce((sum, size) => sum + size, 0),
    })),
    state: states.map(({ name, tensor: { type, shape } }) => ({
      name,
      dtype: dtypeName(type),
      shape,
      bytes: numelOf(shape) * itemSize(type),
    })),
    unplanned: about.unplanned,
    training: about.training.layers,
  }
}

export function compiledText(report: CompiledReport): string {
  const { library, level, levels, usable, reason, original, plans, state, unplanned, training } = report
  const keptBytes = state.reduce((sum, { bytes }) => sum + bytes, 0)
  const use = usable ? 'its plans can be used here' : `its plans cannot be used here: ${reason}`
  const replaced = original.replacement === null ? [] : [`${original.replacement}: compile it again`]
  return [
    [`compiled ahead (.ptlc) by ptlite ${library} for ${level}, with kernels of ${levels.join(', ')}`, use, ...replaced].join('\n') +
      `\ncompiled from ${original.name}, ${original.bytes} bytes, SHA-256 ${original.sha256}, bytecode version ${report.bytecodeVersion}, operator version ${report.operatorVersion}`,
    section(
      'Methods',
      report.methods.map((m) => [m.schema]),
    ),
    section(
      `Plans (${plans.length})`,
      plans.flatMap((p) => [
        [
          `${p.method}(${p.signature})`,
          `${p.frames} kernel calls of ${p.operators.recorded} operator calls`,
          `arena ${formatBytes(p.arenaBytes)}`,
          `lower bound ${formatBytes(p.lowerBound)}`,
          `outputs ${formatBytes(p.outputBytes)}`,
        ],
      ]),
    ),
    section(
      `Kept between calls (${state.length}, ${formatBytes(keptBytes)})`,
      state.map(({ name, dtype, shape }) => [name, `${dtype}[${shape.join(', ')}]`]),
    ),
    ...plans.map((p) =>
      section(
        `Kernels of ${p.method}(${p.signature})`,
        Object.entries(p.kernels).map(([name, count]) => [name, String(count)]),
        [1],
      ),
    ),
    ...(unplanned.length === 0
      ? []
      : [
          section(
            `Left to the interpreter (${unplanned.length})`,
            unplanned.map(({ method, signature, reason }) => [`${method}(${signature})`, reason]),
          ),
        ]),
    ...(training.length === 0 ? [] : [trainingSection('Compiled in training mode, which changes what is computed', training)]),
    `Constants: ${formatBytes(report.constantBytes)} of ${formatBytes(report.bytes)}`,
    `Operators of the original (${report.operators.length})\n${report.operators.map((name) => `  ${name}`).join('\n')}`,
  ].join('\n\n')
}
