import { createHash } from 'node:crypto'
import ts from 'typescript'
import { HOLE, type Pattern, Patterns, TOP } from './patterns.js'
import { applyEdits, type BundleSource, type Edit } from './source.js'
import { declarationsOf, isFunction } from './syntax.js'

/** Shorter texts, and those of one word, which may mean something to code, stay but where an error is thrown. */
const LEAST_LENGTH = 16

/** What of a bundle has to do with errors, by the names that it has there. */
export interface ErrorNames {
  /** The class of errors with a code and a text. */
  readonly errorClass: string
  /** Functions that give the text of a number, give the error of one, and throw it; the values in the text follow the number. */
  readonly message: string
  readonly failure: string
  readonly fail: string
}

export interface Messages {
  /** The bundle without them. */
  readonly text: string
  /** Of the texts: what a bundle and the file beside it must agree in. */
  readonly hash: string
  /** By number. */
  readonly texts: readonly string[]
  /** Errors with a code have numbers of their own: the first number above them, by code, in ascending order. */
  readonly codes: Readonly<Record<string, number>>
}

/** The bundle with numbers in place of the texts of errors. Files that `stays` names keep theirs. */
export function withoutTexts(source: BundleSource, names: ErrorNames, stays: (file: string) => boolean): Messages {
  const numbers = new Numbers()
  const messageOf = ({ text, values }: Pattern): string | null => {
    const plain = text.replaceAll(HOLE, '')
    return plain.length < LEAST_LENGTH || !plain.includes(' ')
      ? null
      : `${names.message}(${[numbers.mark('', text), ...values].join(', ')})`
  }
  const patterns = new Patterns(source.tree, names.errorClass, messageOf)
  const contexts = new ErrorContexts(source)
  const edits: Edit[] = []
  const visit = (node: ts.Node): void => {
    const thrown = patterns.thrownBy(node)
    const made = thrown === null ? patterns.madeBy(node) : null
    if (thrown !== null) {
      const call = `${names.fail}(${[numbers.mark(thrown.code, thrown.text), ...thrown.values].join(', ')})`
      const text = thrown.unless === null ? call : `((${thrown.unless}) || ${call})`
      edits.push({
        start: node.getStart(),
        end: node.end,
        text: ts.isThrowStatement(node) ? `${endsCode(node) ? 'throw ' : ''}${text};` : text,
      })
    } else if (made !== null) {
      const text = `${names.failure}(${[numbers.mark(made.code, made.text), ...made.values].join(', ')})`
      edits.push({ start: node.getStart(), end: node.end, text })
    } else if (contexts.isError(node)) edits.push({ start: node.getStart(), end: node.end, text: patterns.render(node, TOP) })
    else ts.forEachChild(node, visit)
  }
  for (const statement of source.tree.statements) if (!stays(source.fileAt(statement.getStart()))) visit(statement)
  const { texts, codes, finish } = numbers.assigned()
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 8)
  return { text: finish(applyEdits(source.text, edits)), hash, texts, codes }
}

/** Whether a throw is reached in any case, so that the bundler leaves out what follows it: it does not know of functions that throw. */
function endsCode({ parent }: ts.Node): boolean {
  const choice = ts.isBlock(parent) ? parent.parent : parent
  return ts.isIfStatement(choice) && /^(?:true|!false)$/.test(choice.expression.getText())
}

/** Numbers for texts that are only known when all of them are: those with one code follow each other. */
class Numbers {
  private readonly found = new Map<string, { readonly code: string; readonly text: string; readonly at: number }>()

  /** What stands for the number until then. */
  mark(code: string, text: string): string {
    const key = `${code} ${text}`
    const row = this.found.get(key) ?? { code, text, at: this.found.size }
    this.found.set(key, row)
    return `\u0001${row.at}\u0001`
  }

  assigned(): { texts: string[]; codes: Record<string, number>; finish: (text: string) => string } {
    // those without a code last
    const rows = [...this.found.values()].sort((a, b) =>
      a.code === b.code ? a.at - b.at : a.code === '' || (b.code !== '' && a.code > b.code) ? 1 : -1,
    )
    const numbers = new Map(rows.map(({ at }, number) => [at, number]))
    const codes: Record<string, number> = {}
    rows.forEach(({ code }, number) => {
      if (code !== '') codes[code] = number + 1
    })
    const finish = (text: string): string => text.replace(/\u0001(\d+)\u0001/g, (_all, at: string) => String(numbers.get(Number(at))!))
    return { texts: rows.map(({ text }) => text), codes, finish }
  }
}

/** Where a bundle makes errors: what is thrown, arguments of error classes, and of functions that throw what they are given a text for. */
class ErrorContexts {
  private readonly errors = new Set(['Error'])
  private readonly checks = new Set<string>()

  constructor(source: BundleSource) {
    for (const statement of source.tree.statements) {
      for (const { name, initializer } of declarationsOf(statement)) {
        const parent = initializer !== undefined && ts.isClassLike(initializer) ? initializer.heritageClauses?.[0]?.types[0] : undefined
        if (parent !== undefined && this.errors.has(parent.expression.getText())) this.errors.add(name.getText())
      }
      if (ts.isFunctionDeclaration(statement) && statement.body?.statements.some((inner) => throws(inner))) {
        this.checks.add(statement.name?.text ?? '')
      }
    }
  }

  isError(node: ts.Node): boolean {
    if (ts.isThrowStatement(node)) return true
    if (ts.isNewExpression(node)) return this.errors.has(node.expression.getText())
    const call = ts.isArrowFunction(node.parent) && node === node.parent.body ? node.parent.parent : undefined
    return call !== undefined && ts.isCallExpression(call) && ts.isIdentifier(call.expression) && this.checks.has(call.expression.text)
  }
}

function throws(node: ts.Node): boolean {
  return ts.isThrowStatement(node) || (!isFunction(node) && ts.forEachChild(node, throws) === true)
}
