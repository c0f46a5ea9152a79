import ts from 'typescript'
import type { Part } from './parts.js'
import { applyEdits, type BundleSource, type Edit } from './source.js'
import { classNameOf, isFunction } from './syntax.js'

/** What a marked bundle exports besides its own. */
export interface Marks {
  /** Indices of the parts that ran. */
  readonly ptliteEntered: Set<number>
  /** Class names and instances of all objects of the marked classes. */
  readonly ptliteMade: [string, WeakRef<object>][]
}

const ENTERED: keyof Marks = 'ptliteEntered'
const MADE: keyof Marks = 'ptliteMade'
const HEAD = `const ${ENTERED} = new Set(), ${MADE} = [];\n`
const TAIL = `\nexport { ${ENTERED}, ${MADE} };\n`

/** The bundle in which every part notes when it is entered, and every class around parts when it has a new instance. */
export function withMarks(source: BundleSource, parts: readonly Part[]): string {
  const opening: Edit[] = []
  const closing: Edit[] = []
  const open = (at: number, text: string): void => void opening.push({ start: at, end: at, text })
  const close = (at: number, text: string): void => void closing.unshift({ start: at, end: at, text })
  const classes = new Set<ts.ClassLikeDeclaration>()
  for (const { index, node } of parts) {
    const mark = `${ENTERED}.add(${index})`
    if (ts.isClassLike(node.parent)) classes.add(node.parent)
    const body = isFunction(node) ? node.body : node
    if (ts.isBlock(body)) open(body.getStart() + 1, ` ${mark};`)
    else if (ts.isCaseOrDefaultClause(body)) open(body.statements[0]!.getStart(), `${mark}; `)
    else {
      const isStatement = ts.isStatement(body)
      open(body.getStart(), isStatement ? `{ ${mark}; ` : `(${mark}, `)
      close(body.end, isStatement ? ' }' : ')')
    }
  }
  for (const node of classes) {
    open(node.members.pos, ` ptliteMark = ${MADE}.push([${JSON.stringify(classNameOf(node))}, new WeakRef(this)]);`)
  }
  // where one thing ends and another begins, the end comes first
  return HEAD + applyEdits(source.text, [...closing, ...opening]) + TAIL
}
