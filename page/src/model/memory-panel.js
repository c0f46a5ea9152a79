import { h, terms } from '../dom.js'
import { counted, formatBytes } from '../format.js'
import { errorNotice, note } from '../notice.js'
import { arenaView } from './arena.js'
import { argumentsOf } from './measured-arguments.js'

/** What the model keeps in memory, and its plan's arena over time. */
export function memoryPanel(state) {
  if (state.refusal !== null) return note(state.refusal)
  const output = h('div', { 'aria-live': 'polite' })
  const button = h('button', { type: 'button', class: 'primary', onclick: () => void show() }, 'Show the arena')
  const by = h('p', { class: 'quiet' }, 'Compiles the method for an input, and shows what its plan keeps for intermediate results.')

  async function show() {
    button.disabled = true
    output.replaceChildren(h('p', { class: 'quiet' }, 'Compiling'))
    try {
      const { args } = await argumentsOf(state)
      const { use, reason } = await state.call('arena', { method: state.method, args })
      const memory = await state.context.engine.call('memory')
      const views = [
        terms([
          ['Weights in the file', formatBytes(state.report.parameterBytes)],
          use === null ? null : ['Arena', `${formatBytes(use.arenaBytes)} for ${counted(use.buffers.length, 'buffer')}`],
          use === null || use.naiveBytes === 0
            ? null
            : ['Saved by sharing', `${Math.round(100 * (1 - use.arenaBytes / use.naiveBytes))} %`],
          ['Tensors in use', formatBytes(memory.live)],
          ['At most so far', formatBytes(memory.peak)],
        ]),
        use === null ? note(`There is no plan: ${reason}`) : arenaView(use),
      ]
      output.replaceChildren(...views)
    } catch (error) {
      output.replaceChildren(errorNotice('Its memory cannot be shown', error))
    } finally {
      button.disabled = false
      void state.context.showMemory()
    }
  }

  return h('div', {}, h('div', { class: 'row' }, button, by), output)
}
