// Models are read and run here, so that the page stays smooth. Answers to messages { id, call, session, input } are { id, result } or { id, error }.
import { Chat } from './chat.js'
import { Session } from './session.js'
import { SpokenDigits } from './spoken-digits.js'
import { StreamedVoice } from './voice.js'

let library
/** The library, once it is asked for: the page shows before it has come. */
function ptlite() {
  return (library ??= (async () => {
    const ptlite = await import('../../ptlite/web.js')
    await ptlite.ready()
    return ptlite
  })())
}

const sessions = new Map()

const CALLS = {
  async start() {
    const { cpu } = await ptlite()
    return { level: cpu.currentLevel() }
  },
  async open(key, { bytes }) {
    sessions.get(key)?.close()
    sessions.delete(key)
    const session = new Session(await ptlite(), bytes)
    const report = await session.inspect()
    sessions.set(key, session)
    return report
  },
  async openVoice(key, { bytes }) {
    sessions.get(key)?.close()
    sessions.set(key, await StreamedVoice.open(await ptlite(), bytes))
  },
  async openSpokenDigits(key, files) {
    await sessions.get(key)?.close()
    sessions.set(key, await SpokenDigits.open(await ptlite(), files))
  },
  async openChat(key, files) {
    const [tokenizers, jinja] = await Promise.all([import('../../packages/tokenizers.mjs'), import('../../packages/jinja.js')])
    await sessions.get(key)?.close()
    sessions.set(key, await Chat.open(await ptlite(), { tokenizers, jinja }, files))
  },
  /** Of the model `key` and of `other`, which are both open. */
  compare(key, { other, method, args }) {
    return sessions.get(key).compare(sessions.get(other), { method, args })
  },
  async close(key) {
    await sessions.get(key)?.close()
    sessions.delete(key)
  },
  async memory() {
    const { memoryStats, cpu, trimMemory } = await ptlite()
    trimMemory()
    return { ...memoryStats(), level: cpu.currentLevel() }
  },
}

self.onmessage = async ({ data: { id, call, session, input } }) => {
  try {
    const own = CALLS[call]
    const result = own !== undefined ? await own(session, input) : await sessions.get(session)[call](input)
    self.postMessage({ id, result })
  } catch (error) {
    const { message, code, name } = error instanceof Error ? error : { message: String(error) }
    self.postMessage({ id, error: { message, code: code ?? null, name: name ?? 'Error' } })
  }
}
