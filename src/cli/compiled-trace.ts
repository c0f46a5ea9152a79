import { basename, resolve } from 'node:path'
import { read as readHeader, readPlans } from '../../formats/ptlc/read.js'
import type { AheadPlan } from '../../formats/ptlc/module.js'
import { visitTensors } from '../../program/reach.js'
import { openSource } from '../../formats/containers/bytes.js'
import { enumValues } from '../../runtime/native/generated/kernel-fields.js'
import { dtypeTag } from '../../selective-build/trace/dtype-tags.js'
import { KernelUses } from '../../selective-build/trace/kernel-uses.js'
import { startRecording, stopRecording } from '../../selective-build/trace/recorder.js'
import { EMPTY_TRACE, type KernelUse, mergeTraces, type Trace } from '../../selective-build/trace/trace.js'
import { loadModule, type Output, PtliteError } from '../index.js'
import { type CompiledFile, whyUnusable } from './compiled-file.js'
import { levelsOfPlans } from '../../engine/original.js'
import { argumentsOf } from './example-inputs.js'
import { tensorsIn } from '../inspect/tensors-in.js'

/** What is compiled once, whatever the levels, counts as this one. */
const BASE = 'DEFAULT'

/**
 * What a .ptlc file uses: the kernels of its frames with their dtypes and operations, its level, and what loading it and replaying its
 * plans takes, which is done. No operators. Throws UNSUPPORTED_FILE where its plans cannot be used here.
 */
export async function traceOfCompiled(path: string, { about, plans }: CompiledFile): Promise<Trace> {
  const reason = whyUnusable(path)
  if (reason !== null) throw new PtliteError('UNSUPPORTED_FILE', `${path}: ${reason}; compile ${about.original} again`)
  startRecording()
  let replayed: Trace
  try {
    const module = await loadModule(path)
    for (const plan of plans) read(module.call(plan.method, argumentsOf(plan)))
    module.dispose()
  } finally {
    replayed = stopRecording()
  }
  const frames: Trace = { ...EMPTY_TRACE, kernels: usesOf(path) }
  const kernels = mergeTraces([frames, replayed]).kernels!
  const tags = [...kernels.values()].flatMap((use) => [...use.dtypes])
  const quantized = tags.some((tag) => /^QU?Int/.test(tag)) || [...kernels.keys()].some((name) => name.includes('quantize'))
  const levels = [...new Set([about.level, ...about.kernels.map(({ level }) => level).filter((level) => level !== BASE)])]
  return mergeTraces([
    frames,
    {
      ...replayed,
      features: new Set([
        ...replayed.features,
        ...['loader:ptlc', 'backend:CPU', ...(quantized ? ['backend:QuantizedCPU'] : [])],
        ...levels.map((level) => `level:${level}`),
      ]),
      runs: plans.map(({ method }) => ({ model: resolve(path), method, files: null })),
      models: [{ file: basename(path), sha256: null, instructions: 0, reached: 0, unreached: [] }],
    },
  ])
}

/** Reads the tensors of a result, as an app would. */
function read(output: Output): void {
  for (const tensor of tensorsIn(output)) tensor.data()
}

/** Kernels of the frames of a file, with the dtypes of what goes in and out. */
function usesOf(path: string): Map<string, KernelUse> {
  const source = openSource(path)
  try {
    const uses = new KernelUses()
    const header = readHeader(source)
    const { plans } = readPlans(header, levelsOfPlans(header.about))
    for (const { captured } of plans) {
      for (const { layout, bytes } of captured.frames)
        uses.note(layout.kernel, new Int32Array(bytes.buffer, bytes.byteOffset, layout.size / 4))
    }
    const none = new Set<string>()
    return new Map([
      ...uses.result(),
      ['plan_run', { dtypes: new Set(plans.flatMap(dtypesOf)), operations: none }],
      // the level was asked for before, and is known since
      ['cpu_text', { dtypes: none, operations: new Set(enumValues['CpuText']!.split(' ').map((value) => `CpuText.${value}`)) }],
    ])
  } finally {
    source.close()
  }
}

function dtypesOf({ example, captured }: AheadPlan): string[] {
  const tags = [...captured.result.tensors.values()].map(({ type }) => dtypeTag(type))
  for (const value of example) visitTensors(value, (t) => void tags.push(dtypeTag(t.type)))
  return tags.filter((tag) => tag !== undefined)
}
