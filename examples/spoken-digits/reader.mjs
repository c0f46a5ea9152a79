/** What the network was trained on, and what its words are. */
export const RATE = 16000
const MEL = { nFft: 512, winLength: 400, hopLength: 160, nMels: 40, log: 'natural' }

/** Reads spoken digits. `ptlite`: the library, of Node or of browsers; `files`: { model, vocabulary, words }, of which words are n-grams in the ARPA format. */
export async function openReader(ptlite, { model, vocabulary, words }) {
  const network = await ptlite.loadModule(model)
  const wordModel = ptlite.readArpa(words)
  return {
    /** Text, and words with their times. With more than one beam, `beams`, there are words of digits alone. */
    async read(sound, { beams = 1 } = {}) {
      const options = { vocabulary, mel: MEL, beams, wordModel: beams > 1 ? wordModel : undefined }
      const { text, segments } = await ptlite.transcribe(network, sound, options)
      return { text, words: segments[0]?.words ?? [] }
    },
    close: () => network.dispose(),
  }
}
