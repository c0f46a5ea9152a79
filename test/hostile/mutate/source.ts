import type { Random } from '../random.js'

/** Words, numbers, texts, signs, line ends with what indents the next line, and spaces. */
const TOKENS = /[A-Za-z_]\w*|\d[\w.]*(?:e[-+]?\d+)?|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\n *|[-+*/<>=!]=|->|\*\*|\/\/|<<|>>|[^\w\s]| +/g
const WORD = /^[A-Za-z_]\w*$/
const NUMBERS = ['0', '1', '-1', '2', '9223372036854775807', '-9223372036854775808', '18446744073709551616', '0.5', '1e400', 'nan', '2j', '0x10', '1000000000'] // prettier-ignore
const WORDS = [
  'self', 'torch', 'ops', 'prim', 'CONSTANTS', 'c0', '__torch__', 'annotate', 'unchecked_cast', 'uninitialized', 'isinstance', 'getattr', 'None', 'True', 'List', 'Dict',
  'Optional', 'Tuple', 'Union', 'Final', 'Tensor', 'int', 'float', 'str', 'bool', 'Any', 'number', 'Future', 'NamedTuple', 'Enum', 'Interface', 'Module', 'if', 'else', 'elif', 'for', 'in', 'while',
  'with', 'as', 'return', 'raise', 'assert', 'pass', 'break', 'continue', 'def', 'class', 'not', 'and', 'or', 'is', 'lambda', 'del', 'import', 'fork', 'range', 'len', 'print', 'forward',
  '__setstate__', '__getstate__', '__init__', '__new__', '__enter__', '__exit__', '__call__', '__getitem__', '__proto__', 'constructor', 'tolist', 'append', 'format', 'add', 'size', 'cat', 'value', 'name',
] // prettier-ignore
const NESTS = [['(', ')'], ['[', ']'], ['List[', ']'], ['not ', ''], ['-', ''], ['(x, ', ')'], ['torch.neg(', ')'], ['Optional[', ']'], ['{0: ', '}']] as const // prettier-ignore

type Change = (tokens: string[], random: Random, operators: readonly { readonly name: string }[]) => void

const place = (tokens: readonly string[], random: Random, test: (token: string) => boolean = () => true): number => {
  const start = random.below(tokens.length)
  for (let i = 0; i < tokens.length; i++) {
    const at = (start + i) % tokens.length
    if (test(tokens[at]!)) return at
  }
  return start
}
const isLine = (token: string): boolean => token.startsWith('\n')

/** The tokens of some lines, from the end of one to the end of another. */
function lines(tokens: readonly string[], random: Random): [start: number, end: number] {
  const start = place(tokens, random, isLine)
  let end = start + 1
  for (let left = random.between(1, 4); left > 0; left--) while (end < tokens.length && !isLine(tokens[end++]!));
  return [start, Math.max(end - 1, start)]
}

const CHANGES: readonly (readonly [weight: number, change: Change])[] = [
  [6, (tokens, random) => void tokens.splice(place(tokens, random), 1)],
  [6, (tokens, random) => void tokens.splice(place(tokens, random), 0, random.pick(tokens))],
  [8, (tokens, random) => void (tokens[place(tokens, random)] = random.pick(tokens))],
  // one name of the file for another, and one that the reader knows
  [12, (tokens, random) => void (tokens[place(tokens, random, (token) => WORD.test(token))] = tokens[place(tokens, random, (token) => WORD.test(token))]!)],
  [8, (tokens, random) => void (tokens[place(tokens, random, (token) => WORD.test(token))] = random.pick(WORDS))],
  [6, (tokens, random) => void (tokens[place(tokens, random, (token) => /^\d/.test(token))] = random.pick(NUMBERS))],
  // another operator
  [
    8,
    (tokens, random, operators) => {
      const at = place(tokens, random, (token) => token === 'torch')
      const [namespace, name] = random.pick(operators).name.split('::')
      if (at + 2 < tokens.length) tokens.splice(at, 3, ...(namespace === 'aten' ? ['torch', '.', name!] : ['ops', '.', namespace!, '.', name!]))
    },
  ],
  // lines that are gone, there twice, elsewhere, and deeper or less deep than before
  [6, (tokens, random) => { const [a, b] = lines(tokens, random); tokens.splice(a, b - a) }],
  [4, (tokens, random) => { const [a, b] = lines(tokens, random); tokens.splice(b, 0, ...tokens.slice(a, b)) }],
  [5, (tokens, random) => { const [a, b] = lines(tokens, random); tokens.splice(place(tokens, random, isLine), 0, ...tokens.slice(a, b)) }],
  [4, (tokens, random) => { const at = place(tokens, random, isLine); tokens[at] = `\n${' '.repeat(random.below(8))}` }],
  // nesting, length
  [
    2,
    (tokens, random) => {
      const at = place(tokens, random, (token) => WORD.test(token))
      const [open, close] = random.pick(NESTS)
      const count = random.pick([1, 2, 30, 119, 121, 249, 251, 3000])
      tokens[at] = `${open.repeat(count)}${tokens[at]!}${close.repeat(count)}`
    },
  ],
  [1, (tokens, random) => { const at = place(tokens, random); tokens[at] = tokens[at]!.repeat(random.pick([2, 40, 5000])) }],
  [1, (tokens, random) => { const [a, b] = lines(tokens, random); const text = tokens.slice(a, b).join(''); tokens.splice(b, 0, text.repeat(random.pick([10, 300, 1000]))) }],
] // prettier-ignore

/** A file of TorchScript with one to four changes to its tokens. */
export function mutateSource(content: Buffer, random: Random, operators: readonly { readonly name: string }[]): Buffer {
  const tokens = content.toString().match(TOKENS) ?? []
  for (let changes = random.between(1, 4); changes > 0 && tokens.length > 0; changes--) random.weighted(CHANGES)(tokens, random, operators)
  return Buffer.from(tokens.join(''))
}
