import { enterScope } from '../tensor/scope.js'
import type { Value } from '../tensor/value.js'
import { openSource, type ByteSource } from './bytes.js'
import { damaged, guarded, unsupported } from './file-error.js'
import { HEAD_BYTES, fileKind } from './file-kind.js'
import { readFlatbuffer } from './ff.js'
import type { LoadHooks, ModelFile } from './model.js'
import { checkNesting } from './nesting.js'
import type { ParsedModule } from './parsed.js'
import { readArchive } from './ptl.js'
import { TensorPool } from './tensor-pool.js'

/**
 * Reads a mobile module from a path or from bytes; what it is, its content says. Weights of a path are mapped and used
 * in place, those of bytes in memory are copied once. Throws INVALID_FILE for anything damaged or unknown,
 * UNSUPPORTED_FILE for what is whole but cannot be run.
 */
export function loadModelFile(file: string | Uint8Array | ArrayBuffer, hooks: LoadHooks = {}): ModelFile {
  const source = openSource(file)
  const pool = new TensorPool(source)
  // the file's tensors belong to no run
  const before = enterScope(null)
  try {
    return guarded(source.label, () => load(source, pool, hooks))
  } catch (error) {
    pool.close()
    throw error
  } finally {
    enterScope(before)
  }
}

function load(source: ByteSource, pool: TensorPool, hooks: LoadHooks): ModelFile {
  const parsed = parse(source, pool)
  const constants = parsed.functions.flatMap((fn) => fn.constants)
  checkNesting(constants, source.label)
  hooks.onFunctions?.(parsed.functions, parsed.operatorVersion)
  const { root, pending } = parsed.readState()
  checkNesting([root, ...pending.map(({ state }): Value => state)], source.label)
  for (const { object, state, setState } of pending) hooks.runSetState?.(setState, object, state)
  return {
    kind: parsed.kind,
    bytecodeVersion: parsed.bytecodeVersion,
    operatorVersion: parsed.operatorVersion,
    functions: parsed.functions,
    root,
    extraFiles: parsed.extraFiles,
    ...(parsed.debug === undefined ? {} : { debug: parsed.debug }),
    close: () => pool.close(),
  }
}

function parse(source: ByteSource, pool: TensorPool): ParsedModule {
  const head = source.read(0, Math.min(HEAD_BYTES, source.size))
  switch (fileKind(head)) {
    case 'zip':
      return readArchive(source, pool)
    case 'flatbuffer':
      return readFlatbuffer(source, pool)
    case 'pickle':
      throw unsupported(
        `${source.label}: this is a pickle of torch.save, which holds values and no program; export the module as described in docs/model-formats.md`,
      )
    case 'plan':
      throw unsupported(`${source.label}: a .ptlc file holds plans and no program; this needs the model that it was compiled from`)
    case 'other':
      throw damaged(`${source.label}: expected a .ptl (zip) or .ff (flatbuffer) module, found ${described(head)}`)
  }
}

function described(head: Uint8Array): string {
  if (head.length === 0) return 'an empty file'
  return `a file that begins with ${[...head].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')}`
}
