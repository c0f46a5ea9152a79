import type { Value } from '../../runtime/tensor/value.js'
import { type Instruction, type MethodSource, modelOf } from '../module/model-writer.js'

/** Models that would take more than there is. */

/** A method whose code is lines of assembly text; constants are named by `LOADC` and their number. */
export function method(
  name: string,
  code: string,
  rest: Partial<Pick<MethodSource, 'operators' | 'constants' | 'types' | 'registers'>> = {},
): MethodSource {
  const instructions = code
    .trim()
    .split('\n')
    .map((line): Instruction => {
      const [opcode, x = '0', n = '0'] = line.trim().split(/\s+/)
      return [opcode!, Number(x), Number(n)]
    })
  return { name, instructions, operators: [], constants: [], types: [], registers: 4, ...rest }
}

/** `while True: pass` */
export const endless = method(
  'forward',
  `STORE 1
   DROPR 1
   LOADC 0
   JF 2
   JMP -2
   LOADC 1
   RET`,
  { constants: [true, null] },
)

/** Answers at once. */
export const answer = method(
  'answer',
  `STORE 1
   DROPR 1
   LOADC 0
   RET`,
  { constants: [42] },
)

/** `for _ in range(n): pass`, which gives n. */
export const counting = method(
  'count',
  `STOREN 1 2
   DROPR 1
   LOADC 0
   LOAD 2
   LOADC 1
   LOOP 4 2
   DROP
   LOADC 1
   JMP -3
   MOVE 2
   RET`,
  { constants: [0, true] },
)

/** Functions that call the next one twice each: 2^60 calls. */
export function callTree(): MethodSource[] {
  const inner = Array.from({ length: 60 }, (_, i) =>
    method(
      i === 0 ? 'forward' : `f${i}`,
      `STORE 1
       LOAD 1
       CALL ${i + 1}
       DROP
       MOVE 1
       CALL ${i + 1}
       RET`,
    ),
  )
  return [...inner, method('f60', 'STORE 1\nDROPR 1\nLOADC 0\nRET', { constants: [1] })]
}

/** `while True: x = x OP x`, from a constant or from `[1]`. */
export function doubling(operator: string, start: Value | undefined): MethodSource {
  const first = start === undefined ? 'LOADC 2\nLIST_CONSTRUCT 0 1' : 'LOADC 2\nUNCHECKED_CAST'
  return method(
    'forward',
    `STORE 1
     DROPR 1
     ${first}
     STORE 2
     LOADC 0
     JF 6
     LOAD 2
     LOAD 2
     OP 0
     STORE 2
     JMP -6
     LOADC 1
     RET`,
    { operators: [[operator, 2]], constants: [true, null, start ?? 1], types: ['List[int]'] },
  )
}

/** `while True: x.append(1)` */
export const appending = method(
  'forward',
  `STORE 1
   DROPR 1
   LIST_CONSTRUCT 0 0
   STORE 2
   LOADC 0
   JF 6
   LOAD 2
   LOADC 2
   OP 0
   DROP
   JMP -6
   LOADC 1
   RET`,
  { operators: [['aten::append.t', 2]], constants: [true, null, 1], types: ['List[int]'] },
)

/** `while True: x = (x, 1)` */
export const nesting = method(
  'forward',
  `STORE 1
   DROPR 1
   LOADC 2
   STORE 2
   LOADC 0
   JF 6
   MOVE 2
   LOADC 2
   TUPLE_CONSTRUCT 2
   STORE 2
   JMP -6
   LOADC 1
   RET`,
  { constants: [true, null, 1] },
)

/** A list that holds itself, as a tensor. */
export const selfHolding = method(
  'forward',
  `STORE 1
   DROPR 1
   LIST_CONSTRUCT 0 0
   STORE 2
   LOAD 2
   LOAD 2
   OP 0
   DROP
   MOVE 2
   LOADC 0
   LOADC 0
   LOADC 1
   OP 1
   RET`,
  {
    operators: [
      ['aten::append.t', 2],
      ['aten::tensor', 4],
    ],
    constants: [null, false],
    types: ['List[List[int]]'],
  },
)

/** `operator(x.expand([n, n]), *constants)` of an argument with one element. */
export function expanded(operator: string, n: number, rest: readonly Value[] = []): MethodSource {
  return method(
    'forward',
    `STOREN 1 2
     DROPR 1
     MOVE 2
     LOADC 0
     LOADC 0
     LIST_CONSTRUCT 0 2
     LOADC 1
     OP 0
     ${rest.map((_, i) => `LOADC ${i + 2}`).join('\n')}
     OP 1
     RET`.replace(/\n\s*\n/g, '\n'),
    {
      operators: [
        ['aten::expand', 3],
        [operator, 1 + rest.length],
      ],
      constants: [n, false, ...rest],
      types: ['List[int]'],
    },
  )
}

/** `while True: x = x + x` of a tensor, in place of its memory. */
export const keepingTensors = method(
  'forward',
  `STOREN 1 2
   DROPR 1
   LIST_CONSTRUCT 0 0
   STORE 3
   LOADC 0
   JF 9
   LOAD 3
   LOAD 2
   LOAD 2
   LOADC 2
   OP 1
   OP 0
   DROP
   JMP -9
   LOADC 1
   RET`,
  {
    operators: [
      ['aten::append.t', 2],
      ['aten::add.Tensor', 3],
    ],
    constants: [true, null, 1],
    types: ['List[Tensor]'],
  },
)

export { modelOf }
