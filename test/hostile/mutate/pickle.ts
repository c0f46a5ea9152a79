import { changeItem, COMMON_CHANGES } from './items.js'
import { PickleOp as Op } from '../../../formats/containers/pickle/opcodes.js'
import type { Random } from '../random.js'
import { intOf, nodesOf, NONE, partsOf, pickleOf, type Pickled, textOf, treeOf, tupleOf } from './pickle-tree.js'

/** One opcode with its argument. */
interface Token {
  readonly opcode: number
  readonly bytes: Buffer
}

const OPCODES = Object.values(Op)
/** Bytes behind an opcode, where that is a fixed number. */
const ARGUMENT_BYTES: Readonly<Record<number, number>> = {
  [Op.BINFLOAT]: 8, [Op.BININT]: 4, [Op.BININT1]: 1, [Op.BININT2]: 2, [Op.BINGET]: 1, [Op.LONG_BINGET]: 4, [Op.BINPUT]: 1, [Op.LONG_BINPUT]: 4,
  [Op.PROTO]: 1, [Op.LONG1]: 9,
} // prettier-ignore

/** The opcodes of a pickle, as far as they can be told. */
function tokensOf(bytes: Buffer): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < bytes.length;) {
    const opcode = bytes[at]!
    let length = 1 + (ARGUMENT_BYTES[opcode] ?? 0)
    if (opcode === Op.BINUNICODE && at + 5 <= bytes.length) length = 5 + bytes.readUInt32LE(at + 1)
    if (opcode === Op.GLOBAL) length = Math.max(bytes.indexOf(10, bytes.indexOf(10, at) + 1) + 1 - at, 1)
    tokens.push({ opcode, bytes: bytes.subarray(at, at + length) })
    at += length
  }
  return tokens
}

function tokenOf(random: Random, tokens: readonly Token[]): Token {
  const opcode = random.pick(OPCODES)
  const same = tokens.filter((token) => token.opcode === opcode)
  if (same.length > 0 && random.once(2)) return random.pick(same)
  const argument = Buffer.alloc(ARGUMENT_BYTES[opcode] ?? 0)
  for (let i = 0; i < argument.length; i++) argument[i] = random.once(2) ? 0 : random.below(256)
  return { opcode, bytes: Buffer.concat([Buffer.from([opcode]), argument]) }
}

/** A pickle with its opcodes changed, whether or not they make a value. */
export function mutateOpcodes(bytes: Buffer, random: Random): Buffer {
  const tokens = tokensOf(bytes)
  for (let changes = random.between(1, 3); changes > 0 && tokens.length > 0; changes--) {
    const at = random.below(tokens.length)
    switch (random.below(8)) {
      case 0:
        tokens.splice(at, random.between(1, 3))
        break
      case 1:
        tokens.splice(at, 0, tokenOf(random, tokens))
        break
      case 2:
        tokens.splice(at, 0, ...tokens.slice(at, at + random.between(1, 20)))
        break
      case 3: {
        const other = random.below(tokens.length)
        ;[tokens[at], tokens[other]] = [tokens[other]!, tokens[at]!]
        break
      }
      case 4:
        tokens.splice(at, 1, tokenOf(random, tokens))
        break
      case 5:
        // many groups or values, one within the other
        tokens.splice(
          at,
          0,
          ...Array.from({ length: 2 ** random.between(2, 12) }, () => tokenOf(random, tokens)).map((_, __, all) => all[0]!),
        )
        break
      case 6:
        tokens.splice(at, 0, ...doubled(random))
        break
      default:
        tokens[at] = withArgument(tokens[at]!, random)
    }
  }
  return Buffer.concat(tokens.map((token) => token.bytes))
}

/** A value that holds itself twice, and that again: large for whoever follows every path. */
function doubled(random: Random): Token[] {
  const memo = random.below(256)
  const tokens = [
    [Op.EMPTY_LIST],
    ...Array.from({ length: random.between(2, 60) }, () => [Op.BINPUT, memo, Op.BINGET, memo, Op.BINGET, memo, Op.TUPLE2]),
  ]
  return tokens.map((bytes) => ({ opcode: bytes[0]!, bytes: Buffer.from(bytes) }))
}

function withArgument({ opcode, bytes }: Token, random: Random): Token {
  const copy = Buffer.from(bytes)
  if (copy.length > 1) {
    const number = Buffer.alloc(8)
    number.writeBigInt64LE(BigInt.asIntN(64, random.edge64()))
    number.copy(copy, random.between(1, copy.length - 1))
  }
  return { opcode, bytes: copy }
}

const TEXTS = [
  '', 'forward', '__torch__.M', 'List[int]', 'Tensor', '__proto__', 'constructor', 'storage', 'cpu', 'cuda:0', '\ud800', 'a'.repeat(5000), 'aten::add', '\0',
  'Dict[str, List[Tuple[int, Optional[Tensor]]]]', 'toString', '0', '__setstate__', '__torch__.torch.classes.quantized.Conv2dPackedParamsBase',
] // prettier-ignore
const GLOBALS = [
  'torch._utils\n_rebuild_tensor_v2', 'torch._utils\n_rebuild_qtensor', 'torch._utils\n_rebuild_parameter', 'torch._utils\n_rebuild_sparse_tensor', 'collections\nOrderedDict',
  'torch.jit._pickle\nbuild_intlist', 'torch.jit._pickle\nbuild_tensorlist', 'torch.jit._pickle\nbuild_doublelist', 'torch.jit._pickle\nbuild_boollist',
  'torch.jit._pickle\nrestore_type_tag', 'torch.jit._pickle\nbuild_tensor_from_id', 'torch\ndevice', 'torch\nFloatStorage', 'torch\nLongStorage', 'torch\nQInt8Storage',
  'torch\nComplexFloatStorage', 'torch\nBFloat16Storage', 'torch\nQUInt4x2Storage', 'torch\nper_channel_affine', 'torch\nper_tensor_affine', '__torch__\nM',
  '__torch__.torch.classes.quantized\nLinearPackedParamsBase', 'builtins\neval', 'builtins\ncomplex', 'torch\n__proto__', 'torch._C\n_get_tensor_generator',
] // prettier-ignore

/** A value out of nothing. */
export function freshValue(random: Random): Pickled {
  switch (random.below(9)) {
    case 0:
      return NONE()
    case 1:
      return { kind: 'constant', opcode: random.pick([Op.NEWTRUE, Op.NEWFALSE]) }
    case 2:
      return { kind: 'float', value: random.double() }
    case 3:
      return textOf(random.pick(TEXTS))
    case 4:
      return { kind: 'global', name: random.pick(GLOBALS) }
    case 5:
      return tupleOf(...Array.from({ length: random.below(5) }, () => freshValue(random)))
    case 6:
      return { kind: 'list', items: Array.from({ length: random.below(5) }, () => freshValue(random)) }
    case 7:
      return { kind: 'dict', items: Array.from({ length: 2 * random.below(3) }, () => freshValue(random)) }
    default:
      return intOf(random.edge64())
  }
}

/** Changes one value of a tree in place. */
export function mutateValue(node: Pickled, random: Random, all: readonly Pickled[]): void {
  const other = (): Pickled => (random.once(2) ? random.pick(all) : freshValue(random))
  switch (node.kind) {
    case 'int':
      node.value = random.edge64(node.value)
      break
    case 'float':
      node.value = random.double()
      break
    case 'text':
      node.value = random.once(2) ? Buffer.from(random.pick(TEXTS)) : changedText(node.value, random, all)
      break
    case 'global':
      node.name = random.pick(GLOBALS)
      break
    case 'constant':
      node.opcode = random.pick([Op.NONE, Op.NEWTRUE, Op.NEWFALSE])
      break
    case 'call':
      if (random.once(4)) node.opcode = random.pick([Op.REDUCE, Op.NEWOBJ, Op.BUILD])
      else node.items[random.below(node.items.length)] = other()
      break
    default:
      mutateItems(node.items, random, other)
  }
}

/** Changes the elements of a group. */
export function mutateItems(items: Pickled[], random: Random, other: () => Pickled): void {
  const at = random.below(items.length)
  const change = random.below(7)
  if (change < COMMON_CHANGES) return changeItem(items, at, change, random, other)
  switch (change) {
    case 4:
      items.splice(at, 0, ...items.slice(at, at + random.between(1, 4)))
      break
    case 5: {
      const item = other()
      const count = random.pick([16, 65, 1000, 5000])
      for (let i = 0; i < count; i++) items.push(item)
      break
    }
    default:
      items.length = random.below(items.length + 1)
  }
}

function changedText(text: Buffer, random: Random, all: readonly Pickled[]): Buffer {
  const copy = Buffer.from(text)
  switch (random.below(4)) {
    case 0:
      if (copy.length > 0) copy[random.below(copy.length)] = random.below(256)
      return copy
    case 1:
      return copy.subarray(0, random.below(copy.length + 1))
    case 2:
      return Buffer.concat([copy, copy.subarray(random.below(copy.length))])
    default: {
      const other = random.pick(all)
      return other.kind === 'text' ? other.value : copy
    }
  }
}

/** A pickle of another value: somewhere in it something else stands, or what stands elsewhere, or the whole again. */
export function mutatePickle(bytes: Buffer, random: Random): Buffer {
  const root = treeOf(bytes)
  if (root === null || random.once(4)) return mutateOpcodes(bytes, random)
  const all = nodesOf(root)
  if (random.once(3)) {
    const tensors = all.filter((node) => node.kind === 'call' && isRebuild(node.items[0]))
    if (tensors.length > 0) mutateTensor(random.pick(tensors), random, all)
    else mutateValue(random.pick(all), random, all)
  } else for (let changes = random.between(1, 2); changes > 0; changes--) mutateValue(random.pick(all), random, all)
  return pickleOf(root)
}

function isRebuild(node: Pickled | undefined): boolean {
  return node?.kind === 'global' && node.name.includes('_rebuild')
}

/** Changes storage, offset, sizes, strides or quantizer of a tensor. */
function mutateTensor(tensor: Pickled, random: Random, all: readonly Pickled[]): void {
  const [, args] = partsOf(tensor)
  if (args?.kind !== 'tuple' || args.items.length === 0) return
  const at = random.below(Math.min(args.items.length, 5))
  const part = args.items[at]!
  const inner = nodesOf(part).filter((node) => node.kind === 'int')
  if (at === 0) mutateValue(random.pick(nodesOf(part)), random, all)
  else if (random.once(4)) mutateValue(part, random, all)
  else if (inner.length > 0) {
    // nodes of equal ints are not shared, so only this tensor changes
    const number = random.pick(inner)
    if (number.kind === 'int') number.value = random.once(2) ? BigInt(random.below(10)) : random.edge64(number.value)
  } else mutateValue(part, random, all)
}
