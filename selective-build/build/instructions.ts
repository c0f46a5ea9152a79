import ts from 'typescript'
import { applyEdits, type BundleSource, type Edit } from '../trim/source.js'
import { declarationsOf } from '../trim/syntax.js'

/** The file with the instruction loop, whose switch has a clause for each opcode. */
export const INSTRUCTION_LOOP = 'interpreter/execute.ts'

/** The source of the instruction loop with the clauses of the given opcodes only, and the default one. */
export function withInstructions(source: string, opcodes: ReadonlySet<number>): string {
  const file = ts.createSourceFile(INSTRUCTION_LOOP, source, ts.ScriptTarget.ES2022, true)
  const cuts: [number, number][] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCaseBlock(node)) cuts.push(...clausesWithout(node, opcodes))
    else ts.forEachChild(node, visit)
  }
  visit(file)
  return cuts.reduceRight((text, [start, end]) => text.slice(0, start) + text.slice(end), source)
}

/** Clauses are cut label by label; statements go with the last of the labels above them. */
function clausesWithout(block: ts.CaseBlock, opcodes: ReadonlySet<number>): [number, number][] {
  const cuts: [number, number][] = []
  let isKept = false
  for (const clause of block.clauses) {
    if (!ts.isCaseClause(clause) || !ts.isNumericLiteral(clause.expression)) continue
    const holds = opcodes.has(Number(clause.expression.text))
    isKept ||= holds
    const [first] = clause.statements
    if (first !== undefined && !isKept) cuts.push([clause.getFullStart(), clause.end])
    else if (!holds) cuts.push([clause.getFullStart(), first === undefined ? clause.end : first.getFullStart()])
    if (first !== undefined) isKept = false
  }
  return cuts
}

/** The file with the table of instructions: a text with a line for each opcode. */
const TABLE = { file: 'program/generated/opcodes.ts', name: 'ROWS' }

/** A bundle whose table of instructions names the given opcodes only. */
export function withRows(source: BundleSource, opcodes: ReadonlySet<number>): string {
  const edits: Edit[] = []
  const visit = (node: ts.Node): void => {
    if (!ts.isStringLiteralLike(node)) return ts.forEachChild(node, visit)
    const rows = node.text.split('\n').map((row, opcode) => (opcodes.has(opcode) ? row : ''))
    edits.push({ start: node.getStart(), end: node.end, text: JSON.stringify(rows.join('\n')) })
  }
  for (const statement of source.tree.statements) {
    for (const { name, initializer } of source.fileAt(statement.getStart()) === TABLE.file ? declarationsOf(statement) : []) {
      if (name.getText() === TABLE.name) visit(initializer!)
    }
  }
  return applyEdits(source.text, edits)
}
