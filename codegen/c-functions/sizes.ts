/** What a tensor's shape is to be: a name for all of its elements, whatever their shape, or an expression for each dimension. */
export type ShapeRule = string | readonly string[]

/** What a rule is written with. */
export function textsOf(rule: ShapeRule): readonly string[] {
  return typeof rule === 'string' ? [rule] : rule
}

const TOKEN = /\s*(?:(\d+)|([A-Za-z_]\w*)|([-+*()]))/y

/** True for a name alone, which the first tensor that has it defines. */
export function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text)
}

/** The names in an expression of names, whole numbers, `+`, `-`, `*` and parentheses. Throws Error saying what is wrong. */
export function namesIn(text: string): string[] {
  const names: string[] = []
  let depth = 0
  let needsOperand = true
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex
    const [, number, name, sign] = TOKEN.exec(text) ?? []
    const fits =
      sign === '(' ? needsOperand : number !== undefined || name !== undefined ? needsOperand : sign !== undefined && !needsOperand
    if (!fits || (sign === ')' && depth === 0)) throw new Error(`'${text.slice(start).trim()}' was not expected in '${text}'`)
    if (name !== undefined) names.push(name)
    if (sign === '(') depth++
    if (sign === ')') depth--
    needsOperand = sign === '(' || (sign !== undefined && sign !== ')')
  }
  if (needsOperand || depth > 0) throw new Error(`'${text}' ends too early`)
  return names
}
