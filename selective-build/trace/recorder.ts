import { PtliteError } from '../../runtime/error.js'
import { upgraderFor } from '../../program/upgraders.js'
import { FIRST_WITH_COUNTS } from '../../program/program.js'
import { type ScriptModule } from '../../interpreter/script-module.js'
import { structuresIn } from '../../program/unknown-instruction.js'
import { observeModules } from '../../interpreter/script-module.js'
import { observeCalls } from '../../runtime/operators/called.js'
import { entryAt, observeOperators } from '../../runtime/operators/table/registry.js'
import { partsInUse, resetUsed } from '../../runtime/traced-parts.js'
import { InstructionCoverage } from './coverage.js'
import { KernelUses } from './kernel-uses.js'
import { fileName, hashOf } from './model-file.js'
import { customClassesOf, hasQuantizedTensor } from './module-values.js'
import type { KernelUse, OperatorUse, Trace, TracedModel } from './trace.js'

const QUANTIZED_TAGS = new Set(['QInt8', 'QUInt8', 'QInt32'])

/** Follows everything that runs in this thread from start to stop. */
export class Recorder {
  private readonly coverage = new InstructionCoverage()
  private readonly kernels = new KernelUses()
  private readonly modules = new Set<ScriptModule>()
  private readonly byName = new Set<string>()
  private readonly called = new Set<number>()

  start(): void {
    resetUsed()
    this.kernels.start()
    this.coverage.start()
    observeOperators((entry) => this.byName.add(entry.qualifiedName))
    observeCalls((operator) => this.called.add(operator))
    observeModules({
      functions: (functions) => this.coverage.watch(functions),
      module: (module) => this.modules.add(module),
    })
  }

  stop(): Trace {
    observeModules(null)
    observeOperators(null)
    observeCalls(null)
    this.coverage.stop()
    this.kernels.stop()
    return this.trace()
  }

  private trace(): Trace {
    const reached = this.reachedOperators()
    const operators = new Map<string, OperatorUse>()
    const warnings: string[] = []
    const add = (name: string, isCalled: boolean, from: string): void => {
      const other = operators.get(name)
      operators.set(name, {
        isRoot: true,
        isCalled: isCalled || other?.isCalled === true,
        debugInfo: new Set([...(other?.debugInfo ?? []), from]),
      })
    }
    for (const module of this.modules) {
      const file = fileName(module)
      const names = [...this.operatorsOf(module)]
      for (const name of names) add(name, reached.has(name), file)
      // compiling its code again needs them
      for (const [name, isCalled] of module.file.lookedUp ?? []) add(name, isCalled, file)
      const unused = names.filter((name) => !reached.has(name)).sort()
      if (unused.length > 0) warnings.push(`${file}: never called: ${unused.join(', ')}`)
    }
    for (const name of this.byName) add(name, true, 'callOperator')
    for (const index of this.called) {
      const name = entryAt(index).qualifiedName
      if (!operators.has(name)) operators.set(name, { isRoot: false, isCalled: true, debugInfo: new Set() })
    }
    const kernels = this.kernels.result()
    const models = [...this.modules].map((module) => this.model(module))
    for (const model of models) {
      if (model.unreached.length === 0) continue
      const percent = Math.floor((100 * model.reached) / model.instructions)
      warnings.push(`${model.file}: ${percent} % of its instructions ran; what the others need of kernels is not in the trace`)
    }
    return {
      operators,
      kernels,
      customClasses: new Set([...this.modules].flatMap((m) => [...customClassesOf(m)])),
      features: this.features(kernels, operators),
      models,
      runs: [],
      warnings,
      all: false,
    }
  }

  /** Operators of a file: its code does not load where one is missing, whether it is called or not. */
  private operatorsOf(module: ScriptModule): Set<string> {
    const names = new Set<string>()
    for (const fn of module.functions) {
      for (const { qualifiedName, isMissing } of [...fn.operators, ...fn.promoted.values()]) {
        // the model loads without it
        if (isMissing === true) continue
        names.add(qualifiedName)
        for (const use of upgraderFor(qualifiedName, module.file.operatorVersion)?.uses ?? []) names.add(use)
      }
    }
    return names
  }

  /** Operators that were called, and what upgraders put in their place. */
  private reachedOperators(): Set<string> {
    const reached = this.coverage.operators()
    for (const module of this.modules) {
      for (const name of [...reached]) for (const use of upgraderFor(name, module.file.operatorVersion)?.uses ?? []) reached.add(use)
    }
    return reached
  }

  private model(module: ScriptModule): TracedModel {
    const functions = module.functions.map((fn) => this.coverage.of(fn))
    const sum = (count: (f: (typeof functions)[number]) => number): number => functions.reduce((n, f) => n + count(f), 0)
    return {
      file: fileName(module),
      sha256: hashOf(module),
      instructions: sum((f) => f.instructions),
      reached: sum((f) => f.reached),
      unreached: functions.flatMap(({ name, gaps }) =>
        gaps.length === 0 ? [] : [`${name} ${gaps.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(' ')}`],
      ),
    }
  }

  private features(kernels: ReadonlyMap<string, KernelUse>, operators: ReadonlyMap<string, OperatorUse>): Set<string> {
    const features = new Set<string>()
    for (const module of this.modules) {
      features.add(`loader:${module.file.format}`)
      if (module.file.debug !== undefined) features.add('debug-info')
      if (module.file.bytecodeVersion < FIRST_WITH_COUNTS) features.add('argument-counts')
      for (const part of module.file.parts ?? []) features.add(part)
      for (const fn of module.functions) {
        for (const { qualifiedName } of fn.operators) {
          if (upgraderFor(qualifiedName, module.file.operatorVersion) !== undefined) features.add('upgraders')
        }
      }
    }
    const quantized =
      [...operators.keys()].some((name) => name.startsWith('quantized::')) ||
      [...kernels.keys()].some((name) => name.includes('quantize')) ||
      [...kernels.values()].some((use) => [...use.dtypes].some((tag) => QUANTIZED_TAGS.has(tag))) ||
      [...this.modules].some(hasQuantizedTensor)
    if (kernels.size > 0) features.add('backend:CPU')
    if (quantized) features.add('backend:QuantizedCPU')
    for (const part of partsInUse()) features.add(part)
    for (const name of this.coverage.instructions()) features.add(`instruction:${name}`)
    // builds without structures refuse code with instructions of these, whether it runs or not
    for (const { source } of [...this.modules].flatMap(({ functions }) => functions))
      for (const name of structuresIn(source)) features.add(`instruction:${name}`)
    return features
  }
}

let active: Recorder | null = null

/** Starts to note what runs in this thread. Throws INVALID_ARGUMENT where that is on already. */
export function startRecording(): void {
  if (active !== null) throw new PtliteError('INVALID_ARGUMENT', 'tracing is on already; call stopTracing() first')
  const recorder = new Recorder()
  recorder.start()
  active = recorder
}

/** What ran since startRecording. Throws INVALID_ARGUMENT where that was not called. */
export function stopRecording(): Trace {
  if (active === null) throw new PtliteError('INVALID_ARGUMENT', 'tracing is off; call startTracing() first')
  const recorder = active
  active = null
  return recorder.stop()
}
