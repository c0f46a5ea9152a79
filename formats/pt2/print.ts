import { damaged } from '../../program/file-error.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import type { Argument, GraphNode } from './graph.js'
import { pushAny } from './push.js'
import { forEachName, type Scope } from './scope.js'

/** What stands between braces in a format string: `{}`, `{0}`, `{name}`, also with a conversion or a specification; `{{` and `}}` are braces. */
const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:[!:](?:[^{}]|\{[^{}]*\})*)?\}/g

/**
 * Writes `print(format, values, name=value)` as TorchScript's print of that text. Values are written as TorchScript does: conversions and specifications of a field are passed over.
 */
export function emitPrint(node: GraphNode, scope: Scope, builder: CodeBuilder): void {
  const [format, ...values] = node.inputs
  if (format?.argument.kind !== 'constant' || format.argument.type !== 'str') throw damaged('expected a format string')
  const pieces = piecesOf(format.argument.value as string, (field, place) => {
    const isNumber = /^\d*$/.test(field)
    const unnamed = values.filter(({ name }) => name === '')
    const found = isNumber ? unnamed[field === '' ? place : Number(field)] : values.find(({ name }) => name === field)
    if (found === undefined) throw damaged(`nothing to print for '{${field.slice(0, 40)}}'`)
    return found.argument
  })
  // texts are values, too: braces in them stay as they are
  builder.constant('{}'.repeat(pieces.length))
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      builder.constant(piece)
      continue
    }
    forEachName(piece, (name) => scope.keep(name))
    pushAny(piece, scope, builder)
  }
  builder.emit('FORMAT', pieces.length + 1)
  builder.operator('prim::Print', 1, true)
}

/** The texts and values of a format string, in order. `valueOf` is given what stands between braces, and how many fields without a number came before. */
function piecesOf(format: string, valueOf: (field: string, place: number) => Argument): (string | Argument)[] {
  const pieces: (string | Argument)[] = []
  let text = ''
  let [end, place] = [0, 0]
  for (const match of format.matchAll(FIELD)) {
    text += format.slice(end, match.index)
    end = match.index + match[0].length
    if (match[1] === undefined) text += match[0][0]!
    else {
      if (text !== '') pieces.push(text)
      text = ''
      pieces.push(valueOf(match[1], match[1] === '' ? place++ : place))
    }
  }
  text += format.slice(end)
  if (text !== '') pieces.push(text)
  return pieces
}
