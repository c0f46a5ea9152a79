/** Constant objects by name and field, `DType.float32`. */
export type ConstantFields = ReadonlyMap<string, Readonly<Record<string, number>>>

/** A call or `new` whose result is named, at the top level of a module. */
const NAMED_CALL = /^((?:export )?const \w+(?:: [^=\n]*(?:=>[^=\n]*)*)? = )(?=(?:new )?[\w.]+(?:<[^()\n]*>)?\()/gm

/**
 * A source file of the runtime, so that the bundler leaves more out. It does not fold fields of constant objects of other modules, and
 * keeps every call at the top level of a module: such fields become numbers, and calls that make a constant are marked as free of side
 * effects, as the package says that all modules are.
 */
export function rewrite(source: string, constants: ConstantFields): string {
  return rewriteConstants(source.replace(NAMED_CALL, '$1/* @__PURE__ */ '), constants)
}

/** A source file with numbers in place of fields of constant objects. */
export function rewriteConstants(source: string, constants: ConstantFields): string {
  const names = [...constants.keys()].join('|')
  return source.replace(
    new RegExp(`(?<!\\btypeof )\\b(?:kernels\\.)?(${names})\\.(\\w+)\\b(?!\\()`, 'g'),
    (text, name: string, field: string) => {
      const value = constants.get(name)![field]
      return value === undefined ? text : String(value)
    },
  )
}
