/**
 * Samples of the microphone, one channel, as they come. `sampleRate`: the browser resamples to it. Throws an Error that says what to do where there is no microphone, or
 * the page may not use it.
 */
export class Recorder {
  #context
  #stream
  #node

  static async open({ sampleRate, chunk, onChunk }) {
    const recorder = new Recorder()
    if (navigator.mediaDevices?.getUserMedia === undefined)
      throw new Error('This page has no microphone: browsers give it to pages on localhost or https')
    try {
      recorder.#stream = await navigator.mediaDevices.getUserMedia({
        audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false },
      })
    } catch (error) {
      throw new Error(reasonOf(error), { cause: error })
    }
    recorder.#context = new AudioContext({ sampleRate })
    try {
      await recorder.#context.audioWorklet.addModule(new URL('./chunks-worklet.js', import.meta.url))
      const source = recorder.#context.createMediaStreamSource(recorder.#stream)
      recorder.#node = new AudioWorkletNode(recorder.#context, 'chunks', { numberOfOutputs: 0, processorOptions: { chunk } })
      recorder.#node.port.onmessage = ({ data }) => onChunk(data)
      source.connect(recorder.#node)
      await recorder.#context.resume()
    } catch (error) {
      await recorder.close()
      throw error
    }
    return recorder
  }

  async close() {
    if (this.#node !== undefined) this.#node.port.onmessage = null
    this.#node?.disconnect()
    for (const track of this.#stream.getTracks()) track.stop()
    if (this.#context?.state !== 'closed') await this.#context?.close()
  }
}

function reasonOf({ name, message }) {
  if (name === 'NotAllowedError') return 'The microphone was not allowed: allow it in the address bar, then start again'
  if (name === 'NotFoundError') return 'No microphone is connected'
  if (name === 'NotReadableError') return 'Another program uses the microphone'
  return message
}

/** Records so many seconds. `signal` ends it early, with what there is. */
export async function record({ sampleRate, seconds, signal, onLevel }) {
  const wanted = Math.round(sampleRate * seconds)
  const parts = []
  let length = 0
  let done
  const ended = new Promise((resolve) => (done = resolve))
  signal?.addEventListener('abort', () => done(), { once: true })
  const recorder = await Recorder.open({
    sampleRate,
    chunk: 1024,
    onChunk(chunk) {
      parts.push(chunk)
      length += chunk.length
      onLevel?.(levelOf(chunk), Math.min(1, length / wanted))
      if (length >= wanted) done()
    },
  })
  await ended
  await recorder.close()
  return joined(parts, wanted)
}

/** Parts in a row, cut or filled with silence to a length. */
export function joined(parts, length) {
  const samples = new Float32Array(length)
  let at = 0
  for (const part of parts) {
    if (at >= length) break
    samples.set(part.subarray(0, length - at), at)
    at += part.length
  }
  return samples
}

/** How loud samples are, from 0 to 1: 60 decibels below the loudest is 0. */
export function levelOf(samples) {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  const decibels = 10 * Math.log10(sum / samples.length + 1e-12)
  return Math.max(0, Math.min(1, 1 + decibels / 60))
}

/** What a sound file holds, its channels mixed, at a rate. */
export async function decode(bytes, sampleRate) {
  const sound = await new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(bytes)
  const mono = new Float32Array(sound.length)
  for (let channel = 0; channel < sound.numberOfChannels; channel++) {
    const data = sound.getChannelData(channel)
    for (let i = 0; i < mono.length; i++) mono[i] += data[i] / sound.numberOfChannels
  }
  return mono
}
