import type { Expr, Stmt } from './syntax.js'

/* What can be told of statements without knowing what their names stand for. */

/** Blocks in a statement. */
function blocksOf(statement: Stmt): readonly (readonly Stmt[])[] {
  switch (statement.kind) {
    case 'if':
      return [statement.then, statement.other]
    case 'for':
    case 'while':
    case 'with':
      return [statement.body]
    default:
      return []
  }
}

const leaving = new WeakMap<Stmt, boolean>()

/** Whether there is a `return` in it. */
export function leavesFunction(statement: Stmt): boolean {
  let leaves = leaving.get(statement)
  if (leaves === undefined) {
    leaves = statement.kind === 'return' || blocksOf(statement).some((block) => block.some(leavesFunction))
    leaving.set(statement, leaves)
  }
  return leaves
}

/** Whether no way leads behind the statements: all return or raise an error. */
export function alwaysLeaves(statements: readonly Stmt[]): boolean {
  return statements.some(
    (statement) =>
      statement.kind === 'return' ||
      statement.kind === 'raise' ||
      (statement.kind === 'if' && alwaysLeaves(statement.then) && alwaysLeaves(statement.other)) ||
      (statement.kind === 'with' && alwaysLeaves(statement.body)),
  )
}

const assigned = new WeakMap<readonly Stmt[], ReadonlySet<string>>()

/** Names that the statements assign, at any depth. */
export function assignedNames(statements: readonly Stmt[]): ReadonlySet<string> {
  let names = assigned.get(statements)
  if (names === undefined) {
    const found = new Set<string>()
    for (const statement of statements) {
      const targets =
        statement.kind === 'assign' ? statement.targets : statement.kind === 'augment' || statement.kind === 'for' ? [statement.target] : []
      for (const target of targets) addNames(target, found)
      if (statement.kind === 'with') for (const { target } of statement.items) if (target !== null) addNames(target, found)
      for (const block of blocksOf(statement)) for (const name of assignedNames(block)) found.add(name)
    }
    assigned.set(statements, (names = found))
  }
  return names
}

function addNames(target: Expr, names: Set<string>): void {
  if (target.kind === 'name') names.add(target.name)
  else if (target.kind === 'tuple' || target.kind === 'list') for (const item of target.items) addNames(item, names)
}
