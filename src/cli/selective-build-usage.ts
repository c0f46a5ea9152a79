import type { OptionTable } from './options.js'
import type { Command } from './usage.js'

export const SELECTIVE_BUILD_OPTIONS = {
  trace: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    inUsage: false,
    help: "what 'ptlite trace' or stopTracing() wrote, or a .ptlc file; may be repeated",
  },
  model: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    inUsage: false,
    help: "a model's operators, with all kernels and dtypes that they may need, or the kernels and dtypes of a .ptlc file, and its level; may be repeated",
  },
  ops: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    inUsage: false,
    help: "a list of operators: a selected_operators.yaml, as PyTorch's tools write it too; may be repeated",
  },
  all: { type: 'boolean', default: false, inUsage: false, help: 'everything, for comparison' },
  out: {
    type: 'string',
    value: 'DIR',
    isRequired: true,
    help: 'gets index.js, index.cjs, index.d.ts, libptlite.so, selected_operators.yaml, report.json, report.txt, report.svg',
  },
  target: {
    type: 'string',
    default: 'native',
    value: 'NAME',
    help: 'native, for this machine, or wasm32: an ES module and a file of WebAssembly for browsers, workers and Node',
  },
  level: {
    type: 'string',
    value: 'NAME',
    help: 'of wasm32: default, which every engine with vectors runs, or relaxed, for engines with relaxed SIMD',
  },
  isa: { type: 'string', value: 'LIST', help: 'instruction set levels, such as avx2,avx512; all of them without it' },
  'all-dtypes': { type: 'boolean', default: false, help: 'keep all dtypes of the kernels that traces name' },
  'with-compiler': {
    type: 'boolean',
    default: false,
    help: "keep the compiler; traces made with 'ptlite trace --plans' name the kernels of plans, others bring all of them",
  },
  'no-verify': { type: 'boolean', default: false, help: 'do not run the traced models in the new build' },
  'verify-only': {
    type: 'boolean',
    default: false,
    help: 'run the traced models in the build that stands in --out, and nothing else',
  },
  cache: { type: 'string', value: 'DIR', help: 'where object files are kept; build/selective beside the sources without it' },
  sources: {
    type: 'string',
    value: 'DIR',
    help: 'a clone of ptlite in which ./setup.sh was run, in place of the package @ptlite/selective-build',
  },
} as const satisfies OptionTable

/** What the command says of itself, which it can without what it builds with. */
export const SELECTIVE_BUILD: Omit<Command, 'run'> = {
  synopsis: 'selective-build (--trace FILE | --model FILE | --ops FILE | --all) ...',
  about: 'Builds a runtime that holds only what models use.',
  options: SELECTIVE_BUILD_OPTIONS,
}
