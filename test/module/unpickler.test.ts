import t from 'tap'
import { checkNesting } from '../../formats/reading/nesting.js'
import { moduleGlobals } from '../../formats/reading/pickle-globals.js'
import { TensorPool } from '../../formats/reading/tensor-pool.js'
import { openSource } from '../../formats/containers/bytes.js'
import { ValueBudget } from '../../formats/containers/value-budget.js'
import { type PickleMeaning, unpickle } from '../../formats/containers/pickle/unpickler.js'
import { complex, Float } from '../../runtime/tensor/scalar.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { type Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, Device, listType, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { errorOf, numbers } from './fixtures.js'
import { p, pickle } from './pickle-writer.js'

const source = openSource(new Uint8Array(0))

function globals(): PickleMeaning {
  return moduleGlobals(
    new TensorPool(source),
    () => Storage.holding(new Float32Array([0, 1, 2, 3, 4, 5])),
    new Map(),
    new ValueBudget(10_000),
  )
}

function read(...parts: readonly (readonly number[])[]): Value {
  return unpickle(pickle(...parts), globals())
}

function messageOf(...parts: readonly (readonly number[])[]): string {
  const error = errorOf(() => read(...parts))
  if (error.code !== 'INVALID_FILE') throw new Error(`expected INVALID_FILE, found ${error.code}`)
  return error.message
}

const STORAGE = [
  p.mark,
  p.text('storage'),
  p.global('torch', 'FloatStorage'),
  p.text('0'),
  p.text('cuda:0'),
  p.int(6),
  p.tuple,
  p.persistent,
].flat()
const HOOKS = [p.global('collections', 'OrderedDict'), p.emptyTuple, p.reduce].flat()

function tensor(offset: number, sizes: readonly number[], strides: readonly number[]): number[] {
  const tuple = (items: readonly number[]): number[] => [p.mark, ...items.map(p.int), p.tuple].flat()
  const args = [p.mark, STORAGE, p.int(offset), tuple(sizes), tuple(strides), [0x89], HOOKS, p.tuple].flat()
  return [p.global('torch._utils', '_rebuild_tensor_v2'), args, p.reduce].flat()
}

t.test('plain values', (t) => {
  t.equal(read(p.none), null)
  t.equal(read(p.int(-3)), -3)
  t.equal(read(p.long(-5n)), -5)
  t.equal(read(p.long(2n ** 60n)), 2n ** 60n)
  t.same(read(p.float(1)), new Float(1))
  t.equal(read(p.text('é')), 'é')
  t.same(read(p.mark, p.int(1), p.true, p.tuple), new Tuple([1, true]))
  t.same(read(p.mark, p.int(1), p.list), [1])
  t.same(read(p.mark, p.float(1.5), p.int(1), p.dict), new Map([[1.5, 1]]), 'float keys are plain numbers')
  t.same(read(p.emptyDict, p.mark, p.text('a'), p.none, p.setItems), new Map([['a', null]]))
  t.end()
})

t.test('one memoized list is one list', (t) => {
  const value = read(p.emptyList, p.put(0), p.mark, p.int(7), p.appends, p.get(0), p.tuple2)
  if (!(value instanceof Tuple)) throw new Error('expected a tuple')
  t.equal(value.items[0], value.items[1])
  t.same(value.items[0], [7])
  t.end()
})

t.test('globals', (t) => {
  const typed = (name: string, ...items: readonly number[][]): number[] =>
    [p.global('torch.jit._pickle', name), p.emptyList, p.mark, ...items, p.appends, p.tuple1, p.reduce].flat()
  t.same(read(typed('build_intlist', p.int(1), p.int(2))), [1, 2])
  t.equal(listType(read(typed('build_doublelist')) as Value[]), 'float')
  t.match(messageOf(typed('build_boollist', p.int(1))), /expected a list of bool, found int 1/)
  const tagged = read(p.global('torch.jit._pickle', 'restore_type_tag'), p.emptyList, p.text('List[Tuple[Tensor]]'), p.tuple2, p.reduce)
  t.equal(listType(tagged as Value[]), 'Tuple[Tensor]')
  t.same(read(p.global('torch', 'device'), p.text('cuda:1'), p.tuple1, p.reduce), new Device('cuda', 1))
  t.match(messageOf(p.global('torch', 'device'), p.text('c\npu'), p.tuple1, p.reduce), /expected a device/)
  t.match(messageOf(p.global('torch.jit._pickle', 'build_tensor_from_id'), p.int(0), p.tuple1, p.reduce), /not one that PyTorch writes/)
  const complexOf = (re: number[], im: number[]): number[] => [p.global('builtins', 'complex'), re, im, p.tuple2, p.reduce].flat()
  t.strictSame(read(complexOf(p.float(1.5), p.float(-0))), complex(1.5, -0))
  t.match(messageOf(complexOf(p.int(1), p.float(2))), /expected two floats as parts of a complex number, found int 1/)
  t.match(messageOf(p.global('builtins', 'complex'), p.float(1), p.tuple1, p.reduce), /found None/)
  const key = complexOf(p.float(1), p.float(2))
  t.strictSame([...(read(p.emptyDict, p.mark, key, p.int(3), p.setItems) as Map<unknown, unknown>)], [[complex(1, 2), 3]])
  const member = [p.global('__torch__.m', 'Color'), p.int(1), p.tuple1, p.reduce].flat()
  const pair = read(member, member, p.tuple2) as Tuple
  t.not(pair.items[0], pair.items[1], 'a member of an enum is an object wherever the pickle names it')
  t.strictSame(pair.items[0], pair.items[1])
  t.end()
})

t.test('objects', (t) => {
  const object = [p.global('__torch__.m', 'Net'), p.emptyTuple, p.newObject].flat()
  const net = read(object, p.emptyDict, p.mark, p.text('b'), p.int(2), p.text('a'), p.int(1), p.setItems, p.build)
  if (!(net instanceof ScriptObject)) throw new Error('expected an object')
  t.equal(net.typeName, '__torch__.m.Net')
  t.same(
    [net.names, net.slots],
    [
      ['b', 'a'],
      [2, 1],
    ],
    'slots are in the order of the dict',
  )
  t.match(messageOf(object, p.none, p.build), /expected a dict as state of __torch__\.m\.Net, which has no __setstate__, found None/)
  t.match(messageOf(object, p.put(0), p.emptyDict, p.build, p.emptyDict, p.build), /takes none/)
  const custom = read(p.global('__torch__.torch.classes.quantized', 'LinearPackedParamsBase'), p.emptyTuple, p.newObject, p.int(1), p.build)
  t.ok(custom instanceof CustomObject && custom.className === 'quantized.LinearPackedParamsBase' && custom.state === 1)
  t.end()
})

t.test('tensors', (t) => {
  const value = read(tensor(1, [2, 2], [1, 3]))
  t.same(numbers(value as Tensor), [1, 4, 2, 5])
  t.match(messageOf(tensor(3, [2, 2], [2, 1])), /reaches outside its storage of 24 bytes/)
  t.match(messageOf(tensor(0, [2 ** 30, 2 ** 30, 2 ** 30], [2 ** 30, 2 ** 30, 1])), /outside/)
  t.match(messageOf(tensor(0, [2], [2 ** 30])), /outside/)
  t.match(messageOf(tensor(-1, [1], [1])), /expected an int from 0/)
  t.match(messageOf(tensor(0, [-1], [1])), /expected an int from 0/)
  t.match(messageOf(tensor(0, [1, 1], [1])), /2 sizes and 1 strides/)
  t.match(messageOf(tensor(0, new Array<number>(65).fill(1), [])), /at most 64 ints/)
  t.end()
})

t.test('what PyTorch does not write is refused by name', (t) => {
  t.match(messageOf(p.global('os', 'system'), p.text('true'), p.tuple1, p.reduce), /the global 'os\.system' is not one that PyTorch writes/)
  t.match(messageOf(p.global('builtins', 'eval')), /'builtins\.eval'/)
  t.match(messageOf(p.global('torch', 'load')), /'torch\.load'/)
  t.match(messageOf(p.global('__torch__x', 'y')), /'__torch__x\.y'/)
  t.match(messageOf([0x69, 0x6f, 0x73, 0x0a]), /pickle opcode 0x69/, 'INST')
  t.match(messageOf([0x95, 0, 0, 0, 0, 0, 0, 0, 0]), /pickle opcode 0x95/, 'FRAME')
  t.match(messageOf(p.none, [0x32]), /pickle opcode 0x32/, 'DUP')
  t.match(errorOf(() => unpickle(Buffer.from([0x80, 4, 0x4e, 0x2e]), globals())).message, /expected pickle protocol 2, found 4/)
  t.match(messageOf(p.long(1n, 4)), /a long of 8 bytes/)
  t.match(messageOf(p.int(1), p.emptyTuple, p.reduce), /expected a function or class to call/)
  t.end()
})

t.test('broken pickles', (t) => {
  t.match(messageOf(), /takes a value that is not there/)
  t.match(messageOf(p.none, p.none), /found 2/)
  t.match(messageOf(p.tuple), /closes a group/)
  t.match(messageOf(p.none, p.mark, p.tuple1), /takes a value that is not there/)
  t.match(messageOf(p.none, p.mark, p.put(0)), /takes a value that is not there/)
  t.match(messageOf(p.get(3)), /refers to value 3/)
  t.match(messageOf(p.emptyDict, p.mark, p.int(1), p.setItems), /a key without a value/)
  t.match(messageOf(p.emptyDict, p.mark, p.emptyList, p.none, p.setItems), /as key of a dict/)
  t.match(messageOf(p.none, p.mark, p.appends), /expected a list to append to/)
  for (const cut of [[0x58, 255, 255, 255, 255], [0x4a, 1], [0x47], [0x63, 0x61]]) {
    t.match(errorOf(() => unpickle(Buffer.from([...p.proto, ...cut]), globals())).message, /ends/)
  }
  t.end()
})

t.test('values that contain themselves', (t) => {
  const cycle = read(p.emptyList, p.put(0), p.mark, p.get(0), p.appends)
  t.match(errorOf(() => checkNesting([cycle])).message, /contains itself/)
  const object = read(
    p.global('__torch__', 'A'),
    p.emptyTuple,
    p.newObject,
    p.put(0),
    p.emptyDict,
    p.mark,
    p.text('me'),
    p.get(0),
    p.setItems,
    p.build,
  )
  t.match(errorOf(() => checkNesting([object])).message, /contains itself/)
  t.end()
})

t.test('pickle bombs', (t) => {
  const deep = read(p.none, new Array<number>(200_000).fill(0x85))
  t.match(errorOf(() => checkNesting([deep])).message, /nested more than 1000 deep/)
  // thirty lists, each holding the one before twice: 2^30 paths, 30 objects
  const laughs = [...p.emptyList, ...p.put(0)]
  for (let i = 0; i < 30; i++) laughs.push(...p.get(i), ...p.tuple2, ...p.put(i + 1))
  const started = performance.now()
  checkNesting([read(laughs)])
  t.ok(performance.now() - started < 2000, 'shared values are looked at once')
  t.equal(read(p.none, p.longPut(0xffffffff)), null, 'the memo is sparse')
  const gaps = read(p.text('a'), p.longPut(7), p.none, p.put(0), p.tuple2, p.longPut(1), [0x6a, 7, 0, 0, 0], p.tuple2)
  t.same(gaps, new Tuple([new Tuple(['a', null]), 'a']))
  t.end()
})

t.test('a budget of objects', (t) => {
  const of = (objects: number, ...parts: readonly (readonly number[])[]): string =>
    errorOf(() => unpickle(pickle(...parts), globals(), new ValueBudget(0, objects))).message
  t.match(of(9, p.mark, new Array<number>(10).fill(0x4e), p.tuple), /more than 9 objects.*limits\.objects/)
  t.match(of(100, p.mark, new Array<number>(30).fill(0x7d), p.tuple), /more than 100 objects/, 'dicts count more')
  // a dict that is the state of many objects
  const entries = Array.from({ length: 100 }, (_, i) => [...p.text(`a${i}`), ...p.none]).flat()
  const state = [p.emptyDict, p.put(0), p.mark, entries, p.setItems].flat()
  const object = [p.global('__torch__', 'A'), p.emptyTuple, p.newObject, p.get(0), p.build].flat()
  const meaning = moduleGlobals(new TensorPool(source), () => Storage.holding(new Uint8Array(0)), new Map(), new ValueBudget(0, 1000))
  const many = pickle(p.mark, state, ...new Array<number[]>(20).fill(object), p.tuple)
  t.match(errorOf(() => unpickle(many, meaning)).message, /more than 1000 objects/)
  t.end()
})

t.test('texts that are not UTF-8', (t) => {
  const text = (...bytes: number[]): number[] => [0x58, bytes.length, 0, 0, 0, ...bytes]
  for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) t.match(messageOf(text(...bytes)), /not UTF-8/)
  t.equal(read(text(0xef, 0xbf, 0xbd)), '\ufffd')
  t.end()
})

t.test('groups in groups take time in proportion to the file', (t) => {
  const groups = new Array<number>(100_000).fill(0x28)
  const value = read(p.none, groups, new Array<number>(100_000).fill(0x74), p.tuple2)
  t.ok(value instanceof Tuple)
  t.end()
})
