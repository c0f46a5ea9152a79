import ts from 'typescript'
import { alwaysThrows, forEachErrorPath, throwersOf } from './errors.js'
import { forEachEscape } from './escapes.js'
import type { Observation } from './observe.js'
import type { Part } from './parts.js'
import { Reach } from './reach.js'
import { applyEdits, type BundleSource, type Edit } from './source.js'
import { classNameOf } from './syntax.js'

/** Where loading begins: what only this comes to is known from the models that were loaded. */
const LOADING = new Set(['ScriptModule.load'])

/** Characters. Without a smaller function a bundle is hardly smaller, and other models need it the more often. */
const LEAST_SAVED = 60

export interface CutInput {
  readonly source: BundleSource
  /** Files whose parts may be left out. */
  readonly isWithin: (file: string) => boolean
  readonly parts: readonly Part[]
  readonly seen: Observation
  /** Name of the function that throws the error about a part that is missing. */
  readonly missing: string
}

/** The parts that no model entered and that only loading comes to. What makes an error stays. */
export function unneededParts({ source, isWithin, parts, seen }: CutInput): Part[] {
  const { statements } = source.tree
  const inside = statements.filter((statement) => isWithin(source.fileAt(statement.getStart())))
  const throwers = throwersOf(source.tree)
  const functions = new Set(inside.filter(ts.isFunctionDeclaration).map((fn) => fn.name?.text ?? ''))
  const kept = new Reach(inside, seen.living, LOADING)
  const errors = new Errors(inside, seen.living)
  const keep = (node: ts.Node): void => kept.follow(node)
  for (const statement of statements) if (!inside.includes(statement)) followAll(kept, statement)
  for (const { node, index } of parts) {
    if (seen.called.has(index)) keep(node)
    else if (seen.loaded.has(index)) {
      forEachErrorPath(node, (path) => errors.of(node).follow(path))
      forEachEscape(node, functions, (escaped) => {
        if (!wasEntered(escaped, parts, seen.loaded)) keep(escaped)
      })
    }
  }
  return parts.filter(({ index, node }) => {
    return (
      !seen.loaded.has(index) && !seen.called.has(index) && !kept.nodes.has(node) && !errors.comeTo(node) && !alwaysThrows(node, throwers)
    )
  })
}

/** The bundle without the given parts: in their places stands a call that throws an error with the name of the function. */
export function withoutParts({ source, missing }: CutInput, parts: readonly Part[]): { text: string; cut: Part[] } {
  const cuts = parts
    .map((part) => ({ part, edit: editOf(part.node, `${missing}(${JSON.stringify(part.name)})`) }))
    .filter(({ edit }) => edit.end - edit.start >= edit.text.length + LEAST_SAVED)
  return {
    text: applyEdits(
      source.text,
      cuts.map(({ edit }) => edit),
    ),
    cut: cuts.map(({ part }) => part),
  }
}

function wasEntered(node: ts.Node, parts: readonly Part[], entered: ReadonlySet<number>): boolean {
  const part = parts.find((other) => other.node === node)
  return part !== undefined && entered.has(part.index)
}

/** What the errors of each class come to, by the class, which has instances where they are made. */
class Errors {
  private readonly byClass = new Map<string, Reach>()

  constructor(
    private readonly statements: readonly ts.Statement[],
    private readonly living: ReadonlySet<string>,
  ) {}

  of(node: ts.Node): Reach {
    let at = node
    while (!ts.isClassLike(at) && !ts.isSourceFile(at)) at = at.parent
    const name = ts.isClassLike(at) ? classNameOf(at) : ''
    let reach = this.byClass.get(name)
    if (reach === undefined) this.byClass.set(name, (reach = new Reach(this.statements, [...this.living, name], LOADING)))
    return reach
  }

  comeTo(node: ts.Node): boolean {
    return [...this.byClass.values()].some((reach) => reach.nodes.has(node))
  }
}

/** Everything in `node`, called or not. */
function followAll(reach: Reach, node: ts.Node): void {
  reach.follow(node)
  ts.forEachChild(node, (child) => followAll(reach, child))
}

function editOf(node: Part['node'], call: string): Edit {
  const { body, parameters } = node
  if (!ts.isBlock(body)) return { start: body.getStart(), end: body.end, text: call }
  // without parameters, which nothing is done with
  const isPlain = ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node)
  return isPlain
    ? { start: parameters.pos, end: body.end, text: `) { ${call}; }` }
    : { start: body.getStart(), end: body.end, text: `{ ${call}; }` }
}
