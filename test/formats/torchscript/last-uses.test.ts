import t from 'tap'
import { emptyReadIn } from '../../../program/empty-reads.js'
import { OPCODE_NAMES } from '../../../program/opcodes.js'
import { float, int, type Input, loadModule } from '../../../src/index.js'
import { loadScript, method, scriptArchive } from './archive.js'

interface Loop {
  readonly parameters: string
  readonly returns: string
  readonly body: readonly string[]
  readonly args: readonly Input[]
  readonly result: unknown
}

/** The result of each is made of values that its loop reads in every turn, and of what the loop gives. */
const LOOPS: Readonly<Record<string, Loop>> = {
  'a condition that needs an argument': {
    parameters: 'n: int, k: int, v: int',
    returns: 'Tuple[int, int, int]',
    body: ['_0 = torch.lt(v, k)', 'while _0:', '  v0 = torch.add(v, n)', '  _0, v = torch.lt(v0, k), v0', 'return (n, v, k)'],
    args: [int(2), int(9), int(1)],
    result: [2, 9, 9],
  },
  'a condition that is false without an error where a value is lost': {
    parameters: 'lo: Optional[float]',
    returns: 'Tuple[Optional[float], int]',
    body: [
      'v = 0',
      '_0 = torch.__isnot__(lo, None)',
      'while _0:',
      '  v0 = torch.add(v, 1)',
      '  if torch.lt(v0, 4):',
      '    _1 = torch.__isnot__(lo, None)',
      '  else:',
      '    _1 = False',
      '  _0, v = _1, v0',
      'return (lo, v)',
    ],
    args: [float(0.5)],
    result: [0.5, 4],
  },
  'a loop in a loop': {
    parameters: 'n: int, k: int, v: int',
    returns: 'Tuple[int, int, int]',
    body: [
      '_0 = torch.lt(v, k)',
      'while _0:',
      '  w = v',
      '  _1 = torch.lt(w, k)',
      '  while _1:',
      '    w0 = torch.add(w, n)',
      '    _1, w = torch.lt(w0, k), w0',
      '  v0 = torch.add(torch.mul(n, w), v)',
      '  _0, v = torch.lt(v0, torch.mul(k, k)), v0',
      'return (n, v, k)',
    ],
    args: [int(2), int(9), int(1)],
    result: [2, 171, 9],
  },
  'a loop in a branch': {
    parameters: 'c: bool, n: int, k: int, v: int',
    returns: 'Tuple[int, int, int]',
    body: [
      'if c:',
      '  u = v',
      '  _0 = torch.lt(u, k)',
      '  while _0:',
      '    u0 = torch.add(u, n)',
      '    _0, u = torch.lt(u0, k), u0',
      '  w = u',
      'else:',
      '  w = torch.mul(n, k)',
      'return (n, w, k)',
    ],
    args: [true, int(2), int(9), int(1)],
    result: [2, 9, 9],
  },
  'a loop among the arguments of an operator': {
    parameters: 'n: int, k: int, v: int',
    returns: 'int',
    body: ['_0 = torch.lt(v, k)', 'while _0:', '  v0 = torch.add(v, n)', '  _0, v = torch.lt(v0, k), v0', 'return torch.mul(n, torch.add(k, v))'],
    args: [int(2), int(9), int(1)],
    result: 36,
  },
  'a loop that leaves nothing': {
    parameters: 'n: int, k: int, l: List[int]',
    returns: 'Tuple[List[int], int]',
    body: ['for i in range(k):', '  _0 = torch.append(l, torch.add(n, i))', 'return (l, n)'],
    args: [int(2), int(3), [int(1)]],
    result: [[1, 2, 3, 4], 2],
  },
} // prettier-ignore

for (const [name, { parameters, returns, body, args, result }] of Object.entries(LOOPS)) {
  await t.test(name, async (t) => {
    const code = method(parameters, returns, ...body)
    for (const compile of ['off', 'auto', 'eager'] as const) {
      const module = await loadModule(scriptArchive(code), { compile })
      for (let turn = 0; turn < 4; turn++) {
        const found = module.forward(...args.map((arg) => (Array.isArray(arg) ? [...(arg as Input[])] : arg)))
        t.strictSame(found, result, `${compile}, call ${turn}`)
      }
      module.dispose()
    }
  })
}

/** The names of the instructions of `forward` that are about a register. */
function usesOf(code: string, register: number): string[] {
  const module = loadScript(code)
  const { source } = module.method('forward')
  module.dispose()
  t.equal(emptyReadIn(source), null)
  const used: string[] = []
  for (let at = 0; at < source.code.length; at += 3) {
    const name = OPCODE_NAMES[source.code[at]!]!
    if (/^(LOAD|MOVE|DROPR|STORE|LOOP|JF|JMP)$/.test(name) && (/^[LJ].*[OFP]$/.test(name) || source.code[at + 1] === register))
      used.push(name)
  }
  return used
}

t.test('a value goes at its last use, or behind what uses it last', (t) => {
  const first = 2
  t.strictSame(usesOf(method('x: int', 'int', 'return torch.add(torch.neg(x), x)'), first), ['LOAD', 'MOVE'])
  const branch = method('x: int, c: bool', 'int', 'if c:', '  y = torch.add(x, 1)', 'else:', '  y = 2', 'return torch.neg(y)')
  t.strictSame(usesOf(branch, first), ['JF', 'LOAD', 'JMP', 'DROPR'])
  const loop = method('x: int, n: int', 'int', 'y = 0', 'for i in range(n):', '  y = torch.mul(torch.add(y, x), x)', 'return torch.neg(y)')
  t.strictSame(usesOf(loop, first), ['LOOP', 'LOAD', 'LOAD', 'JMP', 'DROPR'])
  const early = method('x: int, n: int', 'Tuple[int, int]', 'y = 0', 'for i in range(n):', '  y = torch.add(y, x)', 'return (x, y)')
  t.strictSame(usesOf(early, first), ['LOAD', 'LOOP', 'LOAD', 'JMP', 'DROPR'], 'what is on the stack already does not count')
  const inner = method('n: int', 'int', 'y = 0', 'for i in range(n):', '  x = torch.neg(y)', '  y = torch.add(x, 1)', 'return y')
  t.strictSame(usesOf(inner, 5), ['LOOP', 'JMP'], 'what is used once, at once, has no register')
  t.end()
})
