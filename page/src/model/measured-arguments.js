import { tensorText } from './arguments.js'

/** The arguments of the last run, else such as the library suggests. Throws an Error where neither is there. */
export async function argumentsOf(state) {
  if (state.args !== null) return { args: state.args, source: 'that of the last run' }
  const { inputs } = state.report.methods.find(({ name }) => name === state.method)
  if (inputs?.length === 0) return { args: [], source: 'no arguments' }
  const found = await state.call('suggest', { method: state.method })
  if (found === null) throw new Error('No inputs were found that it takes: run it first, with inputs that you choose')
  const sizes = found.args.map((arg) => (arg === null ? 'a value' : tensorText(arg))).join(', ')
  return { args: found.args.map(() => ({ kind: 'suggested' })), source: `${sizes}; ${found.source.split(':')[0]}` }
}
