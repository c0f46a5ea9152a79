import { fileURLToPath } from 'node:url'
import t from 'tap'
import { foreignNames } from '../../selective-build/build/known-names.js'
import { minify } from '../../selective-build/build/minify.js'
import { withoutUnusedMembers } from '../../selective-build/trim/members.js'
import { type Marks } from '../../selective-build/trim/marks.js'
import { Observer } from '../../selective-build/trim/observe.js'
import { ownNames } from '../../selective-build/trim/own-names.js'
import { withoutTexts } from '../../selective-build/trim/messages.js'
import { parseBundle } from '../../selective-build/trim/source.js'
import { Trimming, withoutExports } from '../../selective-build/trim/trim.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

const BUNDLE = `// runtime/error.ts
var Problem = class extends Error {
};
function missingPart(name) {
  throw new Problem(\`\${name} is not in this build\`);
}

// program/file-error.ts
function damaged(text) {
  return new Problem(describe(text));
}
function describe(text) {
  return \`the file is damaged, and that is what is wrong: \${text}\`;
}

// interpreter/reader.ts
var Reader = class {
  constructor(text) {
    this.text = text;
  }
  read() {
    if (this.text === "") this.fail();
    if (this.text === "bad") throw this.error("it is bad");
    return this.text.startsWith("[") ? this.list() : this.word();
  }
  word() {
    const value = this.text.trim();
    if (value === "") throw new Problem("a word is at least one character");
    return { value, later: () => reversedLater(this.text) };
  }
  list() {
    return { value: this.text.slice(1, -1).split(",").map((item) => item.trim()), later: () => "a list has no order" };
  }
  error(why) {
    return damaged(\`\${why}: \${this.text}\`);
  }
  fail() {
    throw new Problem("there is nothing in the file that could be read at all");
  }
};
function reversedLater(text) {
  return Array.from(text).reverse().join("") + Array.from(text).length;
}

// formats/words.ts
var Later = class {
  constructor(made) {
    this.made = made;
  }
};
function wordOf(text) {
  const upper = text.startsWith("U:") ? text.slice(2).toUpperCase() : text;
  if (upper.endsWith("!")) {
    upperAgain(upper, "a word that ends with an exclamation mark");
  } else if (upper === "") {
    throw damaged(\`a word of \${text.length > 1 ? "a mark alone" : "nothing at all"}\`);
  }
  switch (upper[0]) {
    case "?":
      return upper.slice(1).padEnd(40, "?").trim();
    case "#":
      throw new Problem("numbers are not words of any kind");
    default:
      return upper;
  }
}
function upperAgain(text, what) {
  return text.toUpperCase().slice(0, what.length);
}
function laterOn(text) {
  return new Later(() => upperAgain(text, "what is handed over stays, with all that it comes to"));
}

// engine/load-program.ts
function loadProgram(text) {
  const module = new ScriptModule();
  module.result = new Reader(text).read();
  module.word = wordOf(text);
  module.made = laterOn(text);
  if (text === "table") module.kind = TABLE["a kind"]();
  return module;
}

// interpreter/script-module.ts
var ScriptModule = class {
  value() {
    return typeof this.result.value === "string" ? this.result.value : joined(this.result.value);
  }
  later() {
    return this.result.later();
  }
  kindOf(name) {
    return NAMES[name]() + NAMES_BY_FIELD.first;
  }
  unheardOf() {
    return "no code names this method of a class whose name is not known to apps, so that it can go without harm";
  }
};
var TABLE = { "a kind": () => { return "this is a kind that only loading asks for, and it is longer than what stands in its place by far"; } };
var NAMES = { one: () => "what a call may ask for by a name that is not seen", two() { return "or by another one, whatever it is"; } };
var NAMES_BY_FIELD = { first: 1, second: () => { return "a function of which no name is anywhere, and it is longer than what stands in its place, again by far"; } };
function joined(list) {
  return list.map((item) => \`<\${item}>\`).join(" and ");
}

// src/selected.ts
var load = (text) => loadProgram(text);
var valueOf = (module) => module.value();
var laterOf = (module) => module.later();
var wordIn = (module) => module.word + module.made.made();
var kindOf = (module, name) => module.kindOf(name);
export {
  Problem,
  kindOf,
  laterOf,
  load,
  missingPart,
  valueOf,
  wordIn
};
`

interface Loader {
  load(text: string): object
  valueOf(module: object): string
  laterOf(module: object): string
  kindOf(module: object, name: string): string
  wordIn(module: object): string
}

const imported = async <T>(text: string): Promise<T> =>
  (await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)) as T

async function cutBy(...texts: string[]): Promise<{ text: string; count: number; loader: Loader }> {
  const trimming = new Trimming(BUNDLE)
  // a comment of its own, so that it is another module each time
  const marked = await imported<Loader & Marks>(`// ${texts.join()}\n${trimming.marked()}`)
  const observer = new Observer(marked)
  const modules = texts.map((text) => marked.load(text))
  await observer.loaded()
  for (const module of modules) marked.valueOf(module)
  observer.called()
  const { text, count } = trimming.cut(observer.seen, 'missingPart')
  const finished = withoutExports(text, ['missingPart'])
  return { text: finished, count, loader: await imported<Loader>(finished) }
}

t.test('functions that only loading comes to are cut unless they were entered', async (t) => {
  const word = await cutBy('word')
  t.equal(word.count, 7, 'list, a row of a table, two that nothing calls, and three branches')
  t.match(word.text, /list\(\) \{ missingPart\("Reader\.list"\); \}/)
  t.equal(word.loader.valueOf(word.loader.load(' other ')), 'other')
  t.throws(() => word.loader.load('[a, b]'), { message: 'Reader.list is not in this build' })
  const list = await cutBy('[a]')
  t.match(list.text, /word\(\) \{ missingPart\("Reader\.word"\); \}/)
  t.equal(list.loader.valueOf(list.loader.load('[a, b]')), '<a> and <b>')
  t.equal((await cutBy('[a]', 'word')).count, 6, 'all that any of the models entered stays')
})

t.test('errors of loading stay, and what calls come to that were not made', async (t) => {
  const { loader } = await cutBy('word')
  t.throws(() => loader.load('bad'), { message: 'the file is damaged, and that is what is wrong: it is bad: bad' })
  t.throws(() => loader.load(''), { message: /nothing in the file/ })
  // a function that loading handed on
  t.equal(loader.laterOf(loader.load('abc')), 'cba3')
  // functions of a table
  t.match(loader.kindOf(loader.load('abc'), 'one'), /not seen1$/)
  t.match(loader.kindOf(loader.load('abc'), 'two'), /whatever it is1$/)
  t.throws(() => loader.load('table'), { message: 'a kind is not in this build' })
})

t.test('branches of files that only load', async (t) => {
  const { loader, text } = await cutBy('word')
  t.equal(loader.wordIn(loader.load('other')), 'otherOTHER')
  const lacking = { message: 'wordOf is not in this build' }
  for (const other of ['U:word', 'word!', '?word']) t.throws(() => loader.load(other), lacking, other)
  t.throws(() => loader.load('#1'), { message: 'numbers are not words of any kind' })
  t.match(text, 'a mark alone', 'of what an error says nothing is cut')
  const marked = await cutBy('word', '?')
  t.equal(marked.loader.wordIn(marked.loader.load('?a')), `a${'?'.repeat(39)}?A`)
  t.throws(() => marked.loader.load('U:word'), lacking)
})

t.test('the same observations give the same text', async (t) => {
  t.equal((await cutBy('word')).text, (await cutBy('word')).text)
})

t.test('members that no name leads to', async (t) => {
  const text = withoutUnusedMembers(BUNDLE, new Set())
  t.notMatch(text, /unheardOf/)
  t.match(text, /later\(\)/)
  t.notMatch(withoutUnusedMembers(BUNDLE, new Set(['unheardOf'])), /unheardOf/, 'of a class that apps do not get')
  const open =
    'var A = class { a() {} }; var B = class extends A { b() {} c() {} }; var C = class extends B { d() {} };\nexport { B as D };'
  const names = (known: string[]): string[] => withoutUnusedMembers(open, new Set(known)).match(/\w(?=\(\) \{\})/g) ?? []
  t.strictSame(names(['a', 'b', 'd']), ['a', 'b', 'd'])
  t.strictSame(names(['c']), ['c'])
  const chain = `var A = class { a() { return this.b() } b() { return 1 } get c() { return 2 } toString() { return "" } };\nexport { A };`
  t.equal(withoutUnusedMembers(chain, new Set()).replace(/\s+/g, ' '), 'var A = class { toString() { return "" } }; export { A };')
  for (const use of ['x["a"]', 'const { a } = x', 'const { a: y } = x', 'x?.a', 'f({ a })']) {
    t.match(withoutUnusedMembers(`${chain}\n${use}`, new Set()), /a\(\) \{/, use)
  }
})

t.test('names of properties that nothing outside of a bundle knows', (t) => {
  const code = `class Reader { #hidden = 1; constructor() { this.position = 0; this.size = 1 } readAll({ limit: most }) { return { total: most, size: this.size } } }
const table = { first: 1, second: 2 }, listed = { red: 1 }, numbers = { even: 2 };
const { hash, texts } = JSON.parse("{}");
const picked = table[name], all = Object.keys(listed), text = "the last word", other = numbers.even;
new Reader().readAll({ limit: 3 }).total + hash + texts.length + x.word + ("blue" in { blue: 1 }) + JSON.stringify({ shown: 1 });`
  const found = ownNames(parseBundle(code).tree, (name) => ['length', 'size', 'keys', 'parse', 'stringify'].includes(name))
  t.strictSame(found, ['even', 'limit', 'position', 'readAll', 'total'])
  const foreign = foreignNames(root)
  for (const name of ['push', 'getUint32', 'cause', 'isUint8Array', 'createRequire', 'exec', 'index', 'isFile', 'env'])
    t.ok(foreign.has(name), name)
  for (const name of ['registerSize', 'argCount']) t.notOk(foreign.has(name), name)
  t.end()
})

t.test('shares of the source files', async (t) => {
  const { code, inputs, exports } = await minify(BUNDLE, 'esm')
  t.strictSame([...exports].sort(), ['Problem', 'kindOf', 'laterOf', 'load', 'missingPart', 'valueOf', 'wordIn'])
  t.strictSame([...inputs.keys()].sort(), [
    'interpreter/reader.ts',
    'interpreter/script-module.ts',
    'engine/load-program.ts',
    'formats/words.ts',
    'program/file-error.ts',
    'runtime/error.ts',
    'src/selected.ts',
  ])
  const sum = [...inputs.values()].reduce((a, b) => a + b, 0)
  t.ok(sum > 0.8 * code.length && sum <= code.length, `${sum} of ${code.length}`)
  t.ok(inputs.get('interpreter/reader.ts')! > inputs.get('runtime/error.ts')!)
})

t.test('texts of errors', async (t) => {
  const code = `// a.ts
var Problem = class extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
};
var LIMIT = 3;
var used = "how often it was asked for, ";
used += "so far";
function check(holds, text) {
  if (!holds) throw new Problem("CHECK", text());
}
function damaged(text) {
  return new Problem("DAMAGED", text);
}
function unexpected(expected, value) {
  return damaged(\`expected \${expected}, found \${typeof value}\`);
}
function absent(part, code = "ABSENT") {
  return new Problem(code, \`\${part} is not here\`);
}
function never(part) {
  throw absent(part, "NEVER");
}
function twice(list, n) {
  check(Array.isArray(list), () => \`expected a list to repeat, found \${typeof list}\`);
  check(n > 0, () => "short text");
  if (n > LIMIT) throw new Problem("MANY", \`at most \${LIMIT} times, \${n === 4 ? \`four (\${n}) is one too many\` : "not " + n}\`);
  if (n === 3) throw new Problem("MANY", { "a key of some length": "three times is what no one wants" }["a key of some length"]);
  if (n === 2) throw unexpected("a text", list[0] || 1);
  if (n === 1.5) throw absent(\`one and a half of \${list.length}\`);
  return n === 0.5 ? never("a half") : [...list, ...list, "a text that is no error, with a space"];
}
function later() {
  return damaged("an error that is made, and not thrown: " + used);
}

// b.ts
function stays() {
  throw new Problem("STAYS", "this text is needed where it stands");
}
export {
  twice,
  later,
  stays
};
`
  const names = { errorClass: 'Problem', message: 'message', failure: 'failure', fail: 'fail' }
  const { text, texts, codes, hash } = withoutTexts(parseBundle(code), names, (file) => file === 'b.ts')
  t.strictSame([...texts].sort(), [
    'a half is not here',
    'an error that is made, and not thrown: ',
    'at most 3 times, {}',
    'expected a list to repeat, found {}',
    'expected a text, found {}',
    'expected {}, found {}',
    'four ({}) is one too many',
    'one and a half of {} is not here',
    'short text',
    'three times is what no one wants',
    '{}',
    '{}',
    '{}',
    '{} is not here',
  ])
  t.strictSame(Object.keys(codes), Object.keys(codes).sort())
  t.match(hash, /^[0-9a-f]{8}$/)
  for (const kept of ['a text that is no error', 'a key of some length', 'this text is needed']) t.match(text, kept)
  t.notMatch(text, /short text|a half|at most/)
  const found = (number: number): string | undefined => Object.entries(codes).find(([, limit]) => number < limit)?.[0]
  t.strictSame(texts.map((_, i) => found(i)).slice(-3), [undefined, undefined, undefined], 'parts of a text have no code')
  const message = `const texts = ${JSON.stringify(texts)}, codes = ${JSON.stringify(codes)};
function message(i, ...values) { return texts[i].replace(/\\{\\}/g, () => values.shift()) }
function failure(i, ...values) { return new Problem(Object.keys(codes).find((code) => i < codes[code]), message(i, ...values)) }
function fail(...args) { throw failure(...args) }\n`
  type Twice = { twice(list: unknown, n: number): unknown; later(): unknown; stays(): void }
  const [whole, cut] = [await imported<Twice>(code), await imported<Twice>(message + text)]
  const outcome = (call: () => unknown): string => {
    try {
      return String(call())
    } catch (error) {
      return `${(error as { code: string }).code} ${String(error)}`
    }
  }
  for (const [list, n] of [
    [1, 1],
    [[1], 0],
    [[1], 4],
    [[1], 5],
    [[1], 3],
    [['a'], 2],
    [[0], 2],
    [[1, 2], 1.5],
    [[], 0.5],
    [[1], 1],
  ] as const) {
    // prettier-ignore
    t.equal(outcome(() => cut.twice(list, n)), outcome(() => whole.twice(list, n))) // prettier-ignore
  }
  for (const name of ['later', 'stays'] as const) t.equal(outcome(cut[name]), outcome(whole[name]))
})
