import { enterScope } from '../runtime/tensor/scope.js'
import { ByteSource, openSource } from './containers/bytes.js'
import { damaged, guarded, unsupported } from '../program/file-error.js'
import { fileKind } from './file-kind.js'
import { readFlatbuffer } from './ff/read.js'
import type { LoadHooks, ModelFile } from '../program/program.js'
import { checkNesting } from './reading/nesting.js'
import type { ParsedModule } from './reading/parsed.js'
import { readArchive } from './ptl/read.js'
import type { ReadOptions } from './reading/read-options.js'
import { TensorPool } from './reading/tensor-pool.js'
import { ValueBudget } from './containers/value-budget.js'

/**
 * Reads a mobile module from a path or from bytes, or from a source, which it closes; what it is, its content says. Weights of a path are mapped and used
 * in place, those of bytes in memory are copied once. Throws INVALID_FILE for anything damaged or unknown,
 * UNSUPPORTED_FILE for what is whole but cannot be run.
 */
export function loadModelFile(
  file: string | Uint8Array | ArrayBuffer | ByteSource,
  hooks: LoadHooks = {},
  options: ReadOptions = {},
): ModelFile {
  const source = file instanceof ByteSource ? file : openSource(file)
  const budget = new ValueBudget(source.size, options.limits?.objects)
  const pool = new TensorPool(source, budget)
  // the file's tensors belong to no run
  const before = enterScope(null)
  try {
    return guarded(source.label, () => {
      const parsed = parse(source, pool, budget, options)
      checkNesting(parsed.functions.flatMap((fn) => fn.constants))
      hooks.onFunctions?.(parsed.functions, parsed.operatorVersion)
      const { root, pending } = parsed.readState()
      checkNesting([root, ...pending.map(({ state }) => state)])
      for (const { object, state, setState } of pending) hooks.runSetState?.(setState, object, state)
      source.checkUnchanged()
      return { ...parsed, root, checkUnchanged: () => source.checkUnchanged(true), close: () => pool.close() }
    })
  } catch (error) {
    pool.close()
    throw error
  } finally {
    enterScope(before)
  }
}

function parse(source: ByteSource, pool: TensorPool, budget: ValueBudget, options: ReadOptions): ParsedModule {
  switch (fileKind(source)) {
    case 'zip':
      return readArchive(source, pool, budget, options)
    case 'flatbuffer':
      return readFlatbuffer(source, pool, options.limits)
    case 'pickle':
      throw unsupported(
        'this is a pickle of torch.save, which holds values and no program; export the module as described in docs/model-formats.md',
      )
    case 'plan':
      throw unsupported('a .ptlc file holds plans and no program; this needs the model that it was compiled from')
    case 'other':
      throw damaged(`expected a .ptl (zip) or .ff (flatbuffer) module, found ${described(source.head)}`)
  }
}

function described(head: Buffer): string {
  return head.length === 0 ? 'an empty file' : `a file that begins with ${head.toString('hex')}`
}
