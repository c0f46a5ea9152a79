import ts from 'typescript'
import { alwaysThrows, forEachErrorPath, isText, throwersOf } from './errors.js'
import { forEachEscape, forEachHandedOver } from './escapes.js'
import type { Observation } from './observe.js'
import type { Part } from './parts.js'
import { Reach } from './reach.js'
import { applyEdits, type BundleSource, type Edit } from './source.js'
import { classNameOf, isFunction } from './syntax.js'

/** Where loading begins (engine/load-program.ts): what only this comes to is known from the models that were loaded. */
const LOADING = new Set(['loadProgram', 'loadOpened'])

/** Characters: without a function that is shorter a bundle is no smaller. */
const LEAST_SAVED = 10
/** Characters of a branch, which a call of a function takes the place of. */
const LEAST_BRANCH = 24

export interface CutInput {
  readonly source: BundleSource
  /** Files whose parts may be left out. */
  readonly isWithin: (file: string) => boolean
  /** Of these, files into which other code comes only to load a model, but for what they hand on to it. */
  readonly isLoading: (file: string) => boolean
  readonly parts: readonly Part[]
  readonly seen: Observation
  /** Name of the function that throws the error about a part that is missing. */
  readonly missing: string
}

/** The parts that no model entered and that only loading comes to. What makes an error stays. */
export function unneededParts({ source, isWithin, isLoading, parts, seen }: CutInput): Part[] {
  const { statements } = source.tree
  const fileOf = (node: ts.Node): string => source.fileAt(node.getStart())
  const inside = statements.filter((statement) => isWithin(fileOf(statement)))
  const throwers = throwersOf(source.tree)
  const functions = new Set(inside.filter(ts.isFunctionDeclaration).map((fn) => fn.name?.text ?? ''))
  // what is kept of all files, and of those that only load
  const everywhere = new Reach(inside, seen.living, LOADING)
  const loading = new Reach(inside, seen.living, LOADING)
  const errors = new Errors(inside, seen.living)
  const keptIn = (node: ts.Node): Reach => (isLoading(fileOf(node)) ? loading : everywhere)
  const wasEntered = (index: number): boolean => seen.loaded.has(index) || seen.called.has(index)
  const unseen = new Set<ts.Node>(parts.filter(({ index, node }) => !wasEntered(index) && isLoading(fileOf(node))).map(({ node }) => node))
  const entered = new Set<ts.Node>(parts.filter(({ index }) => wasEntered(index)).map(({ node }) => node))
  for (const statement of statements) {
    if (!inside.includes(statement)) followAll(everywhere, statement)
    else if (isLoading(fileOf(statement))) forEachHandedOver(statement, unseen, (fn) => loading.follow(fn))
  }
  for (const { node, index } of parts) {
    if (seen.called.has(index)) {
      everywhere.follow(node)
      if (isLoading(fileOf(node))) loading.follow(node)
    } else if (seen.loaded.has(index)) {
      forEachErrorPath(node, (path) => errors.of(node).follow(path))
      if (isLoading(fileOf(node))) continue
      forEachEscape(node, functions, (escaped) => {
        if (!entered.has(escaped)) everywhere.follow(escaped)
      })
    }
  }
  const isNeeded = (node: ts.Node): boolean => keptIn(node).nodes.has(node) || errors.comeTo(node) || alwaysThrows(node, throwers)
  return parts.filter(({ index, node }) => {
    if (wasEntered(index) || isNeeded(node)) return false
    return isFunction(node) || (isLoading(fileOf(node)) && !isNeeded(functionAround(node)) && !isOfError(node))
  })
}

/** The bundle without the given parts: in their places stands a call that throws an error with the name of the function. */
export function withoutParts({ source, missing }: CutInput, parts: readonly Part[]): { text: string; cut: Part[] } {
  const cuts = parts
    .map((part) => ({ part, edit: editOf(part.node, `${missing}(${JSON.stringify(part.name)})`) }))
    .filter(({ part, edit }) => edit.end - edit.start >= (isFunction(part.node) ? edit.text.length + LEAST_SAVED : LEAST_BRANCH))
  return {
    text: applyEdits(
      source.text,
      cuts.map(({ edit }) => edit),
    ),
    cut: cuts.map(({ part }) => part),
  }
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
  if (!isFunction(node)) {
    if (ts.isCaseOrDefaultClause(node)) return { start: node.statements[0]!.getStart(), end: node.end, text: `${call};` }
    return { start: node.getStart(), end: node.end, text: ts.isStatement(node) ? `{ ${call}; }` : call }
  }
  const { body, parameters } = node
  if (!ts.isBlock(body)) return { start: body.getStart(), end: body.end, text: call }
  // without parameters, which nothing is done with
  const isPlain = ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node)
  return isPlain
    ? { start: parameters.pos, end: body.end, text: `) { ${call}; }` }
    : { start: body.getStart(), end: body.end, text: `{ ${call}; }` }
}

function functionAround(node: ts.Node): ts.Node {
  let at = node
  while (!isFunction(at) && !ts.isSourceFile(at)) at = at.parent
  return at
}

/** Whether a branch is within what is thrown, or in what is done with an error. */
function isOfError(node: ts.Node): boolean {
  for (let at = node; !isFunction(at) && !ts.isSourceFile(at); at = at.parent) {
    if (ts.isThrowStatement(at) || ts.isCatchClause(at) || isText(at)) return true
  }
  return false
}
