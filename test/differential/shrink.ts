import type { ClassCode, Method, Program, Statement } from './program.js'
import type { Type } from './types.js'

/** Makes a program smaller as long as `isFaulty` says that the smaller one still shows the fault; until the time is over. */
export async function shrink(program: Program, isFaulty: (program: Program) => Promise<boolean>, milliseconds: number): Promise<Program> {
  const end = Date.now() + milliseconds
  let best = program
  for (let changed = true; changed;) {
    changed = false
    for (const ways of [fewerCalls, fewerMethods, fewerStatements, fewerAttributes, fewerParameters, shorterTexts]) {
      let at = 0
      for (;;) {
        const candidate = nth(ways(best), at)
        if (candidate === undefined) break
        if (Date.now() > end) return best
        if (await isFaulty(candidate)) {
          best = candidate
          changed = true
        } else at++
      }
    }
  }
  return best
}

function nth<T>(items: Iterable<T>, n: number): T | undefined {
  for (const item of items) if (n-- === 0) return item
  return undefined
}

/** `items` without each of them in turn, the last ones first. */
function* without<T>(items: readonly T[]): Generator<T[]> {
  for (let i = items.length - 1; i >= 0; i--) yield items.filter((_, k) => k !== i)
}

function* fewerCalls(program: Program): Generator<Program> {
  const { calls } = program
  for (const kept of without(calls)) if (kept.length > 0) yield { ...program, calls: kept }
  for (const [i, call] of calls.entries()) {
    for (const after of without(call.after)) yield { ...program, calls: calls.with(i, { ...call, after }) }
    // sizes that do not change
    if (i > 0 && call.method === calls[0]!.method && JSON.stringify(call.args) !== JSON.stringify(calls[0]!.args))
      yield { ...program, calls: calls.with(i, { ...call, args: calls[0]!.args, storages: calls[0]!.storages }) }
  }
  if (program.looks === 'last') yield { ...program, looks: 'always' }
}

function withClass(program: Program, old: ClassCode, changes: Partial<ClassCode>): Program {
  return { ...program, classes: program.classes.map((c) => (c === old ? { ...c, ...changes } : c)) }
}

function withMethod(program: Program, of: ClassCode, old: Method, changes: Partial<Method>): Program {
  return withClass(program, of, { methods: of.methods.map((m) => (m === old ? { ...m, ...changes } : m)) })
}

function* fewerMethods(program: Program): Generator<Program> {
  for (const kept of without(program.classes)) if (kept.at(-1)?.name === 'M') yield { ...program, classes: kept }
  const called = new Set(program.calls.map(({ method }) => method))
  for (const code of program.classes) {
    for (const methods of without(code.methods)) {
      if (code.name !== 'M' || [...called].every((name) => methods.some((m) => m.name === name)))
        yield withClass(program, code, { methods })
    }
  }
}

function* fewerAttributes(program: Program): Generator<Program> {
  for (const code of program.classes) for (const attributes of without(code.attributes)) yield withClass(program, code, { attributes })
}

function* fewerParameters(program: Program): Generator<Program> {
  const code = program.classes.at(-1)!
  for (const method of code.methods) {
    for (let i = method.parameters.length - 1; i >= 0; i--) {
      const less = withMethod(program, code, method, { parameters: method.parameters.filter((_, k) => k !== i) })
      yield {
        ...less,
        calls: less.calls.map((call) => (call.method === method.name ? { ...call, args: call.args.filter((_, k) => k !== i) } : call)),
      }
    }
  }
}

function* fewerStatements(program: Program): Generator<Program> {
  for (const code of program.classes)
    for (const method of code.methods) for (const body of fewer(method.body)) yield withMethod(program, code, method, { body })
}

/** Statements with one of them left out, or replaced by what is in it. */
function* fewer(statements: readonly Statement[]): Generator<Statement[]> {
  yield* without(statements)
  for (const [i, statement] of statements.entries()) {
    const inPlace = (inner: readonly Statement[]): Statement[] => [...statements.slice(0, i), ...inner, ...statements.slice(i + 1)]
    if (statement.kind === 'line') continue
    if (statement.kind === 'if') {
      yield inPlace(statement.then)
      yield inPlace(statement.other)
      for (const then of fewer(statement.then)) yield inPlace([{ ...statement, then }])
      for (const other of fewer(statement.other)) yield inPlace([{ ...statement, other }])
    } else {
      yield inPlace(statement.body)
      for (const body of fewer(statement.body)) yield inPlace([{ ...statement, body }])
    }
  }
}

function* shorterTexts(program: Program): Generator<Program> {
  for (const code of program.classes) {
    for (const method of code.methods) {
      const { returns, result } = method
      if (returns.kind === 'Tuple') {
        const items = parts(result.slice(1, -1))
        for (const [i, item] of items.entries())
          if (returns.items[i] !== undefined) yield withMethod(program, code, method, { returns: returns.items[i], result: item })
      }
      if (result !== 'x') yield withMethod(program, code, method, { returns: X, result: 'x' })
      for (const text of shorter(result)) yield withMethod(program, code, method, { result: text })
      for (const body of renamed(method.body)) yield withMethod(program, code, method, { ...body, result: body.rename(result) })
      for (const body of shorterLines(method.body)) yield withMethod(program, code, method, { body })
    }
  }
}

const X: Type = { kind: 'Tensor', extent: 'x' }

function* shorterLines(statements: readonly Statement[]): Generator<Statement[]> {
  for (const [i, statement] of statements.entries()) {
    const put = (changed: Statement): Statement[] => statements.with(i, changed)
    if (statement.kind === 'line') {
      const [, head, expression] = /^(.*? = )?(.*)$/.exec(statement.text)!
      for (const text of shorter(expression!)) yield put({ kind: 'line', text: `${head ?? ''}${text}` })
    } else if (statement.kind === 'if') {
      for (const condition of ['True', 'False', ...shorter(statement.condition)])
        if (condition !== statement.condition) yield put({ ...statement, condition })
      for (const then of shorterLines(statement.then)) yield put({ ...statement, then })
      for (const other of shorterLines(statement.other)) yield put({ ...statement, other })
    } else for (const body of shorterLines(statement.body)) yield put({ ...statement, body })
  }
}

/** An expression with a call in it replaced by one of its arguments. */
function* shorter(expression: string): Generator<string> {
  for (const found of expression.matchAll(/(?:torch\.\w+|float|int|bool|annotate|unchecked_cast)\(/g)) {
    const start = found.index
    const open = start + found[0].length
    const end = closing(expression, open)
    const inner = parts(expression.slice(open, end))
    const args = found[0].startsWith('annotate') || found[0].startsWith('unchecked') ? inner.slice(1) : inner
    for (const arg of args) yield expression.slice(0, start) + arg + expression.slice(end + 1)
  }
}

/** Where the bracket that is open at `from` closes. */
function closing(text: string, from: number): number {
  let level = 1
  for (let i = from; i < text.length; i++) {
    if ('([{'.includes(text[i]!)) level++
    else if (')]}'.includes(text[i]!) && --level === 0) return i
  }
  return text.length
}

/** What stands between the commas of a list. */
function parts(text: string): string[] {
  const found: string[] = []
  let [level, start] = [0, 0]
  for (let i = 0; i <= text.length; i++) {
    if (i === text.length || (text[i] === ',' && level === 0)) {
      const part = text.slice(start, i).trim()
      if (part !== '') found.push(part)
      start = i + 1
    } else if ('([{'.includes(text[i]!)) level++
    else if (')]}'.includes(text[i]!)) level--
  }
  return found
}

/** Statements without a definition: its name stands for something else that there is. */
function* renamed(body: readonly Statement[]): Generator<{ readonly body: Statement[]; readonly rename: (text: string) => string }> {
  const lines: string[] = []
  const collect = (statements: readonly Statement[]): void => {
    for (const s of statements) {
      if (s.kind === 'line') lines.push(s.text)
      else if (s.kind === 'if') [s.then, s.other].forEach(collect)
      else collect(s.body)
    }
  }
  collect(body)
  for (const line of lines) {
    const [, name, expression] = /^(v\d+) = (.*)$/.exec(line) ?? []
    if (name === undefined) continue
    const others = new Set([expression!, ...(expression!.match(/\bself(?:\.\w+)+(?!\w*\()|\b[vi]\d+\b|\bx\b/g) ?? [])])
    for (const other of others) {
      const pattern = new RegExp(`\\b${name}\\b`, 'g')
      const rename = (text: string): string => text.replace(pattern, other)
      const apply = (statements: readonly Statement[]): Statement[] =>
        statements.flatMap((s): Statement[] => {
          if (s.kind === 'line') return s.text === line ? [] : [{ kind: 'line', text: rename(s.text) }]
          if (s.kind === 'if') return [{ ...s, condition: rename(s.condition), then: apply(s.then), other: apply(s.other) }]
          return [{ ...s, head: rename(s.head), body: apply(s.body) }]
        })
      if (!other.includes(name)) yield { body: apply(body), rename }
    }
  }
}
