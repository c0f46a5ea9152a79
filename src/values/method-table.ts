/** One of the operators that serve a method of tensors, or a function that makes them. */
export interface MethodOperator {
  /** Qualified. */
  readonly name: string
  /** Arguments of calls that have none. */
  readonly fallbacks: readonly number[]
}

/**
 * The rows of a table that codegen/emit/tensor-methods.ts writes: `squeeze= .dim .dims;isNan=isnan;softmax=.int(-1)`, where what begins with a point, or is empty, is
 * an overload of the operator of that name.
 */
export function rowsOf(table: string): ReadonlyMap<string, readonly MethodOperator[]> {
  return new Map(
    table.split(';').map((row) => {
      const [name, operators = ''] = row.split('=') as [string, string?]
      return [name, operators.split(' ').map((text) => operatorOf(/^\w/.test(text) ? text : name + text))]
    }),
  )
}

function operatorOf(text: string): MethodOperator {
  const [name, fallbacks] = text.split(/[()]/) as [string, string?]
  return { name: `aten::${name}`, fallbacks: fallbacks === undefined ? [] : fallbacks.split(',').map(Number) }
}
