import { h } from '../dom.js'
import { formatTime } from '../format.js'
import { errorNotice } from '../notice.js'
import { exampleFile } from './example-file.js'

const QUESTIONS = ['What does an owl eat?', 'Tell me a story about a fox.', 'What colour is a frog?']

/** A conversation with the language model of examples/chat, whose answers come piece by piece. */
export async function chatPage({ engine, showMemory }) {
  const log = h('ol', { class: 'messages', role: 'log', 'aria-label': 'The conversation' })
  const empty = h('p', { class: 'quiet' }, 'Ask something: it knows a few animals and colours, and stories of them.')
  const question = h('input', { type: 'text', id: 'question', maxlength: '200', autocomplete: 'off', placeholder: 'Ask something' })
  const send = h('button', { class: 'primary' }, 'Send')
  const again = h('button', { type: 'button', onclick: () => void forget() }, 'Begin anew')
  const varied = h('input', { type: 'checkbox', id: 'varied' })
  const time = h('p', { class: 'quiet', 'aria-live': 'polite' }, ' ')
  const failure = h('div')
  let messages = []
  let isAnswering = false

  function show(role, text) {
    const element = h('li', { class: `message ${role}` }, h('span', { class: 'who' }, role === 'user' ? 'You' : 'Model'), h('p', {}, text))
    empty.hidden = true
    log.append(element)
    log.scrollTop = log.scrollHeight
    return element.lastChild
  }

  async function ask(text) {
    if (text === '' || isAnswering) return
    isAnswering = true
    send.textContent = 'Stop'
    failure.replaceChildren()
    question.value = ''
    messages.push({ role: 'user', content: text })
    show('user', text)
    const answer = show('assistant', '')
    try {
      await engine.call('say', 'chat', { messages, temperature: varied.checked ? 0.8 : 0 })
      for (;;) {
        const { text: piece, usage } = await engine.call('more', 'chat')
        if (piece === null) break
        answer.textContent += piece
        log.scrollTop = log.scrollHeight
        showTime(usage)
      }
      messages.push({ role: 'assistant', content: answer.textContent })
    } catch (error) {
      messages.pop()
      failure.replaceChildren(errorNotice('There is no answer', error))
    } finally {
      isAnswering = false
      send.textContent = 'Send'
      void showMemory()
    }
  }

  function showTime({ completionTokens, firstTokenMilliseconds, milliseconds }) {
    const rest = milliseconds - firstTokenMilliseconds
    const rate = completionTokens > 1 && rest > 0 ? `, ${Math.round((1000 * (completionTokens - 1)) / rest)} tokens a second` : ''
    time.textContent = `The first token came after ${formatTime(firstTokenMilliseconds)}${rate}`
  }

  async function forget() {
    await engine.call('stop', 'chat')
    messages = []
    log.replaceChildren()
    empty.hidden = false
    time.textContent = ' '
    question.focus()
  }

  const form = h(
    'form',
    {
      class: 'row',
      onsubmit: (event) => {
        event.preventDefault()
        if (isAnswering) void engine.call('stop', 'chat')
        else void ask(question.value.trim())
      },
    },
    h('label', { class: 'visually-hidden', for: 'question' }, 'Your question'),
    question,
    send,
  )
  const jsonOf = async (name) => JSON.parse(new TextDecoder().decode(await exampleFile(`chat/${name}`)))
  const [bytes, tokenizer, config] = await Promise.all([
    exampleFile('chat/model.pt2'),
    jsonOf('tokenizer.json'),
    jsonOf('tokenizer_config.json'),
  ])
  await engine.call('openChat', 'chat', { bytes, tokenizer, config }, [bytes])
  void showMemory()
  return {
    title: 'Chat',
    element: h(
      'div',
      { class: 'page demo chat' },
      h('h1', {}, 'Talk to a small model'),
      h('p', { class: 'lead' }, 'A language model of 394,000 weights answers token by token, in this page.'),
      h(
        'div',
        { class: 'card' },
        empty,
        log,
        form,
        h('div', { class: 'row between' }, h('label', { class: 'row', for: 'varied' }, varied, 'Other answers each time'), again),
        time,
      ),
      failure,
      h(
        'div',
        { class: 'row wrap', role: 'group', 'aria-label': 'Questions to begin with' },
        ...QUESTIONS.map((text) => h('button', { type: 'button', onclick: () => void ask(text) }, text)),
      ),
      h(
        'p',
        { class: 'quiet' },
        'The model is ',
        h('code', {}, 'examples/chat/model.pt2'),
        ': it was taught by sentences that a script makes, and knows nothing else.',
      ),
    ),
    async leave() {
      await engine.call('close', 'chat')
    },
  }
}
