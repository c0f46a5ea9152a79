import type { Random } from '../random.js'
import { mutateBytes } from './bytes.js'
import { changeItem, COMMON_CHANGES } from './items.js'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** An item or field of a value. */
interface Place {
  readonly container: Json[] | { [name: string]: Json }
  readonly key: string
}

/** Stands for a number that JSON.stringify would not write; the digits follow. */
const NUMBER = '@number '

const TEXTS: readonly string[] = [
  '', 'x', 'self', 'forward', '__proto__', 'constructor', 'Infinity', '-Infinity', 'NaN', '{}', '[]', '[1, {}]', '\ud800', '\0', 'cpu', 'cuda', 'a'.repeat(3000), '(('.repeat(3000),
  "Symbol('s0', integer=True)", "Symbol('s0')", 's0', '2*s0 + 1', "Mul(Integer(2), Symbol('s0'))", 's0//0', 's0**s0**s0', 'Max(1, s0)', "L['x'].size()[0] <= 3", 'oo', '-int_oo',
  '_operator.add', '_operator.floordiv', '_operator.pow', '_operator.mod', '_operator.getitem', '_operator.lshift', 'math.sqrt', 'torch.sym_max', 'torch.sym_ite', 'builtins.tuple',
  'builtins.dict', 'collections.namedtuple', 'torch.ops.higher_order.cond', 'torch.ops.higher_order.while_loop', 'torch.ops.higher_order.scan', 'torch.ops.higher_order.map_impl',
  'torch.ops.higher_order.wrap_with_set_grad_enabled', 'torch.ops.higher_order.with_effects', 'torch.ops.aten.relu.default', 'torch.ops.aten.add.Tensor', 'weight_0', '../weight_0',
] // prettier-ignore

/** Arguments of nodes of every kind. */
const ARGUMENTS: readonly Json[] = [
  { as_none: true }, { as_int: 0 }, { as_int: -1 }, { as_int: 1 }, { as_float: 'NaN' }, { as_float: 0.5 }, { as_bool: true }, { as_string: 's' }, { as_tensor: { name: 'x' } },
  { as_tensors: [{ name: 'x' }] }, { as_tensors: [] }, { as_ints: [] }, { as_ints: [1, 2] }, { as_ints: [-1] }, { as_floats: [1] }, { as_bools: [true] }, { as_scalar_type: 7 },
  { as_scalar_type: 5 }, { as_layout: 7 }, { as_memory_format: 1 }, { as_device: { type: 'cpu', index: null } }, { as_sym_int: { as_name: 's0' } }, { as_sym_int: { as_int: 3 } },
  { as_sym_ints: [{ as_int: 2 }, { as_name: 's0' }] }, { as_sym_bool: { as_bool: true } }, { as_complex: { real: 1, imag: 2 } }, { as_optional_tensors: [{ as_none: true }] },
  { as_operator: 'torch.ops.aten.relu.default' }, { as_graph: { name: 'g', graph: { inputs: [], outputs: [], nodes: [] } } }, { as_custom_obj: { name: 'o', class_fqn: 'c' } },
  { as_nested_tensors: [[{ name: 'x' }]] }, { as_string_to_argument: { a: { as_int: 1 } } }, { as_strings: ['a'] }, { as_int_lists: [[1], []] },
] // prettier-ignore

/** A JSON text of an exported program with something else in it; `targets` are operators as nodes name them. */
export function mutateExported(text: Buffer, random: Random, targets: readonly string[]): Buffer {
  const root = random.once(12) ? undefined : parsed(text.toString())
  if (root === undefined) return random.once(3) ? nested(text, random) : mutateBytes(text, random, text)
  for (let changes = random.between(1, 2); changes > 0; changes--) change(root, random, targets)
  return Buffer.from(JSON.stringify(root).replaceAll(new RegExp(`"${NUMBER}([^"]*)"`, 'g'), '$1'))
}

function parsed(text: string): Json | undefined {
  try {
    // numbers of 64 bits are not what JSON.parse reads
    return JSON.parse(text.replaceAll(/(?<=[:[,]\s*)-?\d{16,}(?=\s*[\],}])/g, `"${NUMBER}$&"`)) as Json
  } catch {
    return undefined
  }
}

/** Brackets within each other, many of them closed. */
function nested(text: Buffer, random: Random): Buffer {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"graph":[', ']}'],
  ] as const)
  const count = random.pick([100, 190, 210, 5000, 100_000])
  const middle = Buffer.from(open.repeat(count) + 'null' + close.repeat(random.once(3) ? random.below(count) : count))
  const at = random.below(text.length + 1)
  return Buffer.concat([text.subarray(0, at), middle, text.subarray(random.once(2) ? at : text.length)])
}

function change(root: Json, random: Random, targets: readonly string[]): void {
  const places = placesIn(root)
  if (places.length === 0) return
  const special = SPECIAL.filter((one) => places.some(({ key }) => one.keys.includes(key)))
  if (special.length > 0 && random.below(3) > 0) {
    const { keys, of } = random.pick(special)
    const place = random.pick(places.filter(({ key }) => keys.includes(key)))
    return put(place, of(valueAt(place), random, targets))
  }
  const place = random.pick(places)
  const other = (): Json => structuredClone(random.once(2) ? valueAt(random.pick(places)) : fresh(valueAt(place), random))
  const { container, key } = place
  const kind = random.below(COMMON_CHANGES + 3)
  if (Array.isArray(container)) {
    if (kind < COMMON_CHANGES) changeItem(container, Number(key), kind, random, other)
    else if (kind === COMMON_CHANGES) {
      const item = valueAt(place)
      for (let count = random.pick([1, 16, 65, 1000]); count > 0; count--) container.push(item)
    } else put(place, other())
  } else if (kind === 0) delete container[key]
  else if (kind === 1) container[random.pick(TEXTS)] = other()
  else put(place, other())
}

/** Fields that mean something of their own, and what may stand there. */
const SPECIAL: readonly {
  readonly keys: readonly string[]
  readonly of: (value: Json, random: Random, targets: readonly string[]) => Json
}[] = [
  { keys: ['target'], of: (_, random, targets) => (random.once(4) ? random.pick(TEXTS) : random.pick(targets)) },
  { keys: ['arg', 'value'], of: (_, random) => structuredClone(random.pick(ARGUMENTS)) },
  { keys: ['as_int', 'min_val', 'max_val', 'major', 'dtype', 'layout', 'as_scalar_type'], of: (value, random) => integer(value, random) },
  {
    keys: ['sizes', 'strides', 'storage_offset'],
    of: (value, random) => (random.once(3) ? resized(value, random) : numbered(value, random)),
  },
  { keys: ['expr_str', 'guards_code'], of: (value, random) => changedText(value, random) },
  { keys: ['in_spec', 'out_spec', 'context', 'path_name', 'name'], of: (value, random, targets) => changedInner(value, random, targets) },
]

function integer(value: Json, random: Random): Json {
  if (random.once(3)) return random.below(45)
  return `${NUMBER}${random.edge64(typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : 0n)}`
}

function resized(value: Json, random: Random): Json {
  if (!Array.isArray(value)) return fresh(value, random)
  const size: Json = { as_int: random.below(5) }
  return random.once(2)
    ? value.slice(0, random.below(value.length + 1))
    : [...value, ...Array<Json>(random.pick([1, 2, 64, 65])).fill(size)]
}

/** The same with another number somewhere. */
function numbered(value: Json, random: Random): Json {
  const places = placesIn(value).filter((place) => typeof valueAt(place) === 'number')
  if (places.length > 0) {
    const place = random.pick(places)
    put(place, random.once(2) ? random.below(10) : integer(valueAt(place), random))
  }
  return value
}

function changedText(value: Json, random: Random): Json {
  if (typeof value !== 'string') return random.once(2) ? [random.pick(TEXTS)] : fresh(value, random)
  return random.once(3) ? random.pick(TEXTS) : mutateBytes(Buffer.from(value), random, Buffer.from(random.pick(TEXTS))).toString()
}

/** Texts that hold JSON are changed as such. */
function changedInner(value: Json, random: Random, targets: readonly string[]): Json {
  const inner = typeof value === 'string' && random.below(4) > 0 ? parsed(value) : undefined
  if (typeof inner !== 'object' || inner === null) return changedText(value, random)
  change(inner, random, targets)
  return JSON.stringify(inner)
}

function fresh(value: Json, random: Random): Json {
  switch (random.below(7)) {
    case 0:
      return random.pick([null, true, false])
    case 1:
      return random.pick<Json>([[], {}, [[]], [null], { '': 0 }])
    case 2:
      return random.pick(TEXTS)
    case 3:
      return structuredClone(random.pick(ARGUMENTS))
    case 4:
      return `${NUMBER}${random.pick(['1e400', '-0', '01', '1.5', '9'.repeat(400), '1e-9', '.5', '+1'])}`
    default:
      return integer(value, random)
  }
}

/** All items and fields of a value, but for what nothing reads. */
function placesIn(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found
  for (const key of Object.keys(value)) {
    if (key === 'metadata') continue
    const place = { container: value, key }
    found.push(place)
    placesIn(valueAt(place), found)
  }
  return found
}

function valueAt({ container, key }: Place): Json {
  return (container as { [name: string]: Json })[key]!
}

function put({ container, key }: Place, value: Json): void {
  ;(container as { [name: string]: Json })[key] = value
}
