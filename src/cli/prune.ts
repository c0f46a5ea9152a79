import { readFileSync } from 'node:fs'
import { PtliteError } from '../../runtime/error.js'
import { loadModelFile } from '../../formats/read.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../index.js'
import { blockWeights, countBlocks, weightFields } from './block-weights.js'
import { refuseCompiled } from './compiled-file.js'
import { table } from './format.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { parse, UsageError, type Command } from './usage.js'
import { reportBeside, writeFile } from './write-file.js'
import { repairChecksums } from './zip-checksums.js'

/** ptlite prune: writes a copy of a module whose smallest weight blocks are zero. */
const OPTIONS = {
  sparsity: { type: 'string', value: 'SHARE', isRequired: true, help: 'share of blocks that are zero afterwards, 0 to 1' },
  output: { type: 'string', short: 'o', value: 'FILE', isRequired: true, help: 'where the pruned module goes' },
  block: {
    type: 'string',
    default: '1x16',
    value: '1xN',
    help: 'block of 1 input channel by N output channels, N 8 or 16; 1x16 without it',
  },
  layers: { type: 'string', default: '', value: 'REGEX', help: 'only weights whose dotted name matches' },
  json: { type: 'boolean', default: false, help: 'the list as JSON' },
} as const satisfies OptionTable

export const prune: Command = {
  synopsis: 'prune MODEL',
  about: `Sets the smallest blocks of the weights of linear layers and pointwise convolutions to zero.

Blocks are chosen per layer by their sum of squares. The file's layout stays; layers are listed with their shares and errors.`,
  options: OPTIONS,

  async run(args) {
    const { values, positionals } = parse({ args, options: OPTIONS, allowPositionals: true })
    if (positionals.length !== 1) throw new UsageError(positionals.length === 0 ? 'name a model file' : 'expected one model file')
    if (values.output === undefined) throw new UsageError('name the file to write with -o')
    const { output } = values
    const report = reportBeside(output)
    const layers = await during(`pruning ${positionals[0]!}`, () =>
      pruneFile(positionals[0]!, output, parseShare(values.sparsity), parseBlock(values.block), parseRegex(values.layers)),
    )
    report(values.json ? JSON.stringify({ layers }) : textOf(layers))
  },
}

interface PrunedLayer {
  readonly name: string
  readonly shape: readonly number[]
  readonly blocks: number
  readonly zeroBlocks: number
  /** Norm of what was taken away, relative to the weight's. */
  readonly error: number
}

async function pruneFile(model: string, output: string, share: number, width: number, layers: RegExp): Promise<PrunedLayer[]> {
  refuseCompiled(model, 'prune', 'prune the model that it was compiled from, and compile that')
  const file = loadModelFile(model)
  try {
    const bytes = readFileSync(model)
    const chosen = blockWeights(file).filter(({ name }) => layers.test(name))
    if (chosen.length === 0) {
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `${model}: no float32 or bfloat16 weight of a linear layer or pointwise convolution${layers.source === '(?:)' ? '' : ` matches ${layers}`}`,
      )
    }
    const pruned = chosen.map(({ name, tensor }) => {
      const { blocks, zeros } = countBlocks(tensor, width)
      const target = Math.max(zeros, Math.round(share * blocks))
      // the file is mapped privately: this changes the process's copy
      const { kept, lost } = kernels.sparse_prune({ ...weightFields(tensor), width, zeros: target })
      patch(bytes, tensor, name)
      return { name, shape: [...tensor.shape], blocks, zeroBlocks: target, error: kept + lost === 0 ? 0 : Math.sqrt(lost / (kept + lost)) }
    })
    repairChecksums(bytes)
    await writeFile(output, bytes)
    return pruned
  } finally {
    file.close()
  }
}

/** Copies a tensor's storage to its place in the file. */
function patch(bytes: Buffer, tensor: Tensor, name: string): void {
  const { storage } = tensor
  const mapping = Storage.keptBy(storage) as { readonly address: number } | undefined
  if (mapping?.address === undefined) {
    throw new PtliteError(
      'UNSUPPORTED_FILE',
      `${name}: its bytes are compressed or not aligned in the file; save the module again with _save_for_lite_interpreter`,
    )
  }
  const offset = storage.address - mapping.address
  kernels.mem_read({ address: storage.address, bytes: storage.byteLength }, bytes.subarray(offset, offset + storage.byteLength))
}

function parseShare(text: string | undefined): number {
  const share = Number(text)
  if (text === undefined || text.trim() === '' || !(share >= 0 && share <= 1))
    throw new UsageError(`--sparsity: expected a share from 0 to 1, found '${text ?? ''}'`)
  return share
}

function parseBlock(text: string): number {
  const width = Number(/^1x(8|16)$/.exec(text)?.[1])
  if (Number.isNaN(width)) throw new UsageError(`--block: expected 1x8 or 1x16, found '${text}'`)
  return width
}

function parseRegex(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new UsageError(`--layers: ${(error as Error).message}`)
  }
}

const percent = (x: number): string => `${(100 * x).toFixed(1)} %`

function textOf(layers: readonly PrunedLayer[]): string {
  const rows = layers.map((l) => [l.name, `[${l.shape.join(', ')}]`, percent(l.zeroBlocks / l.blocks), percent(l.error)])
  return table([['weight', 'shape', 'zero blocks', 'error'], ...rows], [2, 3])
}
