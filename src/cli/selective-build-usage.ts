import type { Command } from './usage.js'

/** What the command says of itself, which it can without what it builds with. */
export const SELECTIVE_BUILD: Pick<Command, 'usage' | 'help'> = {
  usage:
    'selective-build (--trace FILE | --model FILE | --ops FILE | --all) ... --out DIR [--target wasm32 [--level relaxed]] [--isa avx2,avx512] [--all-dtypes] [--with-compiler] [--no-verify]',
  help: `Builds a runtime that holds only what models use.

      --trace FILE   what 'ptlite trace' or stopTracing() wrote, or a .ptlc file; may be repeated
      --model FILE   a model's operators, with all kernels and dtypes that they may need, or the kernels and dtypes of
                     a .ptlc file, and its level; may be repeated
      --ops FILE     a list of operators: a selected_operators.yaml, as PyTorch's tools write it too; may be repeated
      --all          everything, for comparison
      --target NAME  native, for this machine, or wasm32: an ES module and a file of WebAssembly for browsers, workers and Node
      --level NAME   of wasm32: default, which every engine with vectors runs, or relaxed, for engines with relaxed SIMD
      --isa LIST     instruction set levels, such as avx2,avx512; all of them without it
      --all-dtypes   keep all dtypes of the kernels that traces name
      --with-compiler  keep the compiler; traces made with 'ptlite trace --plans' name the kernels of plans, others bring all of them
      --out DIR      gets index.js, index.cjs, index.d.ts, libptlite.so, selected_operators.yaml, report.json, report.txt, report.svg
      --no-verify    do not run the traced models in the new build
      --verify-only  run the traced models in the build that stands in --out, and nothing else
      --cache DIR    where object files are kept; build/selective beside the sources without it
      --sources DIR  a clone of ptlite in which ./setup.sh was run, in place of the package @ptlite/selective-build`,
}
