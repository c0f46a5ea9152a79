import t from 'tap'
import { OPCODE_BY_NAME, OPCODES } from '../../program/opcodes.js'
import { LISTS_ONLY } from '../../formats/containers/pickle/lists.js'
import { readFunction } from '../../formats/ptl/code.js'
import { unpickle } from '../../formats/containers/pickle/unpickler.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { p, pickle } from './pickle-writer.js'

type Instruction = readonly [name: string, x: number, n: number]

const pair = (key: string, ...value: readonly (readonly number[])[]): number[] => [p.text(key), ...value, p.tuple2].flat()
const tuple3 = [0x87]

function int(value: number): number[] {
  if (value >= 0 && value < 256) return [0x4b, value]
  return value >= 0 && value < 65536 ? [0x4d, value & 255, value >> 8] : [...p.int(value)]
}

/** Instructions as PyTorch writes them: names are memoized where they first occur, `firstMemo` values into the pickle. */
function instructionsOf(instructions: readonly Instruction[], firstMemo: number): number[] {
  const memo = new Map<string, number>()
  return instructions.flatMap(([name, x, n]) => {
    const known = memo.get(name)
    const at = known ?? firstMemo + memo.size
    memo.set(name, at)
    const longAt = [at & 255, at >> 8, 0, 0]
    const put = at < 256 ? [0x71, at] : [0x72, ...longAt]
    const text = known === undefined ? [...p.text(name), ...put] : at < 256 ? [0x68, at] : [0x6a, ...longAt]
    return [...text, ...int(x), ...int(n), ...tuple3]
  })
}

function codeOf(
  instructions: readonly Instruction[],
  constants: readonly number[] = p.emptyTuple,
  firstMemo = 0,
): ReturnType<typeof readFunction> {
  const table = [p.mark, instructionsOf(instructions, firstMemo), p.tuple].flat()
  const parts = [pair('instructions', table), pair('operators', p.emptyTuple), pair('constants', constants), pair('types', p.emptyTuple)]
  const fn = [p.text('__torch__.M.forward'), p.mark, ...parts, pair('register_size', p.int(1)), p.tuple, p.tuple2].flat()
  const value = unpickle(pickle(p.mark, p.int(8), fn, p.tuple), { ...LISTS_ONLY, opcodes: OPCODE_BY_NAME })
  return readFunction((value as Tuple).items[1]!)
}

t.test('instructions of every form', (t) => {
  const names = OPCODES.map((row) => row.name)
  let seed = 1
  const random = (below: number): number => (seed = (seed * 48271) % 0x7fffffff) % below
  for (const firstMemo of [0, 200, 300]) {
    const xs = [0, 1, 255, 256, 65535, 65536, -1, -400, 2 ** 31 - 1]
    const ns = [0, 3, 255, 256, 65535]
    const instructions = Array.from({ length: 2000 }, (): Instruction => [names[random(names.length)]!, xs[random(9)]!, ns[random(5)]!])
    const expected = instructions.flatMap(([name, x, n]) => [OPCODE_BY_NAME.get(name)!, x, n])
    t.same([...codeOf(instructions, p.emptyTuple, firstMemo).code], expected, `names memoized from ${firstMemo}`)
  }
  t.end()
})

t.test('constants that look like code are values', (t) => {
  const lookalike: readonly Instruction[] = Array.from({ length: 5 }, (_, i): Instruction => ['RET', i, 0])
  const constant = pair('instructions', p.mark, instructionsOf(lookalike, 10), p.tuple)
  const table = new Tuple(lookalike.map((items): Value => new Tuple([...items])))
  const { constants } = codeOf([['RET', 0, 0]], [p.mark, constant, p.none, p.none, p.none, p.tuple].flat())
  t.same(constants[0], new Tuple(['instructions', table]))
  t.end()
})

t.test('code that is cut short', (t) => {
  const whole = pickle(
    p.mark,
    p.int(8),
    p.text('f'),
    p.mark,
    p.text('instructions'),
    p.mark,
    instructionsOf(
      Array.from({ length: 9 }, () => ['RET', 300, 1]),
      0,
    ),
  )
  for (let end = 2; end < whole.length - 1; end++) {
    t.throws(() => unpickle(whole.subarray(0, end), { ...LISTS_ONLY, opcodes: OPCODE_BY_NAME }), { code: 'INVALID_FILE' })
  }
  t.end()
})
