/*
 * What the library can be built without. Everything is there from source and in a whole build; a selective build has a file of its own in the
 * place of this one (selective-build/build/features.ts), and its bundler leaves out what stands behind a feature that is false.
 */

/** Complex tensors and numbers. */
export const complex: boolean = true
/** float16 and bfloat16. */
export const half: boolean = true
/** Floats of 8 bits, and unsigned integers of 16 and more. */
export const limited: boolean = true
/** Tensors with scales and zero points. */
export const quantized: boolean = true
/** Weights that are rounded as they are loaded. */
export const rounding: boolean = true
/** Sparse tensors. */
export const sparse: boolean = true
/** Conversion between dtypes in operators. */
export const promotion: boolean = true
/** Numbers as operands of elementwise operators. */
export const scalars: boolean = true
/** Operators that write into tensors that they are given: in place, or `out`. */
export const writes: boolean = true
/** Arguments of operators that code leaves out. */
export const defaults: boolean = true
/** Lists, tuples, dicts and objects in a run. */
export const containers: boolean = true
/** Instructions that make containers and objects, or take something out of them. */
export const structures: boolean = true
/** Arguments of a module that are not tensors. */
export const coercion: boolean = true

/** Programs, and what interprets them. */
export const interpreter: boolean = true
/** The compiler, and everybody else who watches a run: recorders, profilers, traces. */
export const compiler: boolean = true
/** The thread behind `Module.run`. */
export const background: boolean = true
/** Threads of kernels in WebAssembly. */
export const threads: boolean = true
/** Operators that programs register. */
export const customOperators: boolean = true

/** Readers of formats, by their names. */
export const ptl: boolean = true
export const ff: boolean = true
export const torchscript: boolean = true
export const pt2: boolean = true
export const pte: boolean = true
export const ptlc: boolean = true
/** Operators of ExecuTorch on numbers. */
export const executorchNumbers: boolean = true
/** Operators of ExecuTorch for quantized weights, language models and training. */
export const executorchOperators: boolean = true
/** Graphs that programs of ExecuTorch leave to XNNPACK. */
export const xnnpack: boolean = true
/** Programs that are bundled with test cases. */
export const testCases: boolean = true
/** Files with data that belong to a model. */
export const dataFiles: boolean = true
/** Writers of programs. */
export const writers: boolean = true
/** Models from URLs, blobs, responses and streams. */
export const sources: boolean = true
/** What files say of themselves beside their programs, which `inspectModel` tells. */
export const inspection: boolean = true
/** Lines of source in errors. */
export const debug: boolean = true
/** Old meanings of operators. */
export const upgraders: boolean = true
/** The numbers of arguments in bytecode of version 4 and 5. */
export const argumentCounts: boolean = true
/** What errors and warnings guess: names that were meant, kinds of files that are no models, modules in training mode; tensors printed with their elements. */
export const advice: boolean = true
