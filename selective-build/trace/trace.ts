/** What a kernel was asked to do. */
export interface KernelUse {
  /** Names as in PyTorch's files: `Float`, `Long`. */
  readonly dtypes: ReadonlySet<string>
  /** Values of the kernel's enumerations: `BinaryOp.add`. */
  readonly operations: ReadonlySet<string>
}

export interface OperatorUse {
  /** Called by a model's code or by name, not just by other operators. */
  readonly isRoot: boolean
  /** False where models name it and never came to it: it must be known when they load, but not work. */
  readonly isCalled: boolean
  /** Files and callers that it comes from. */
  readonly debugInfo: ReadonlySet<string>
}

/** A model file that was traced. */
export interface TracedModel {
  readonly file: string
  /** Of the file's bytes, in hexadecimal; null where they are gone. */
  readonly sha256: string | null
  /** Instructions of its code, and how many of them ran. */
  readonly instructions: number
  readonly reached: number
  /** Stretches that never ran: `__torch__.Net.forward 10-12`. */
  readonly unreached: readonly string[]
}

/** A call that can be made again, to compare builds. */
export interface TracedRun {
  /** Path of the model. */
  readonly model: string
  readonly method: string
  /** Paths of the arguments; null for the inputs that are bundled with the model, or of the sizes that it declares. */
  readonly files: readonly string[] | null
  /** Sizes of the arguments, which are made up: `1,3,224,224`, `int64:1,16`. */
  readonly shapes?: readonly string[]
  /** It is loaded out of training mode. */
  readonly eval?: true
}

/** What models used while they ran: what a selective build has to hold. */
export interface Trace {
  /** By qualified name, `aten::add.Tensor`. */
  readonly operators: ReadonlyMap<string, OperatorUse>
  /** By kernel name; null where nothing ran, so that a build goes by the operators. */
  readonly kernels: ReadonlyMap<string, KernelUse> | null
  readonly customClasses: ReadonlySet<string>
  /** `loader:ptl`, `backend:CPU`, `instruction:OP`, `debug-info`, `upgraders`, `argument-counts`, ... */
  readonly features: ReadonlySet<string>
  readonly models: readonly TracedModel[]
  /** Of traces that `ptlite trace` made. */
  readonly runs: readonly TracedRun[]
  readonly warnings: readonly string[]
  /** Everything is selected; the rest says nothing then. */
  readonly all: boolean
}

export const EMPTY_TRACE: Trace = {
  operators: new Map(),
  kernels: null,
  customClasses: new Set(),
  features: new Set(),
  models: [],
  runs: [],
  warnings: [],
  all: false,
}

/** All that any of the traces used. Kernels of a build go by what ran only where that is known of every part. */
export function mergeTraces(traces: readonly Trace[]): Trace {
  const operators = new Map<string, OperatorUse>()
  for (const trace of traces) {
    for (const [name, use] of trace.operators) {
      const other = operators.get(name)
      operators.set(name, {
        isRoot: use.isRoot || other?.isRoot === true,
        isCalled: use.isCalled || other?.isCalled === true,
        debugInfo: new Set([...(other?.debugInfo ?? []), ...use.debugInfo]),
      })
    }
  }
  return {
    operators,
    kernels: traces.length > 0 && traces.every((t) => t.kernels !== null) ? mergeKernels(traces.map((t) => t.kernels!)) : null,
    customClasses: new Set(traces.flatMap((t) => [...t.customClasses])),
    features: new Set(traces.flatMap((t) => [...t.features])),
    models: mergeModels(traces.flatMap((t) => t.models)),
    runs: [...new Map(traces.flatMap((t) => t.runs).map((run) => [JSON.stringify(run), run])).values()],
    warnings: [...new Set(traces.flatMap((t) => t.warnings))],
    all: traces.some((t) => t.all),
  }
}

function mergeKernels(parts: readonly ReadonlyMap<string, KernelUse>[]): Map<string, KernelUse> {
  const kernels = new Map<string, KernelUse>()
  for (const part of parts) {
    for (const [name, use] of part) {
      const other = kernels.get(name)
      kernels.set(name, {
        dtypes: new Set([...(other?.dtypes ?? []), ...use.dtypes]),
        operations: new Set([...(other?.operations ?? []), ...use.operations]),
      })
    }
  }
  return kernels
}

/** Of one file traced twice, the run that reached more is kept. */
function mergeModels(models: readonly TracedModel[]): TracedModel[] {
  const byFile = new Map<string, TracedModel>()
  for (const model of models) {
    const key = model.sha256 ?? `${model.file} ${model.instructions}`
    const other = byFile.get(key)
    if (other === undefined || model.reached > other.reached) byFile.set(key, model)
  }
  return [...byFile.values()]
}
