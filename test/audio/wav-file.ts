/** The bytes of a WAV file of these chunks. */
export function wavFile(...chunks: readonly (readonly [name: string, content: Uint8Array])[]): Uint8Array {
  const parts = chunks.map(([name, content]) => {
    const head = Buffer.alloc(8)
    head.write(name, 'latin1')
    head.writeUInt32LE(content.length, 4)
    return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
  })
  const body = Buffer.concat(parts)
  const riff = Buffer.alloc(12)
  riff.write('RIFF', 'latin1')
  riff.writeUInt32LE(body.length + 4, 4)
  riff.write('WAVE', 8, 'latin1')
  return Buffer.concat([riff, body])
}

/** A format chunk; with a sub-format it is an extensible one. */
export function formatChunk(tag: number, channels: number, rate: number, bits: number, subFormat?: number): [string, Uint8Array] {
  const chunk = Buffer.alloc(subFormat === undefined ? 16 : 40)
  chunk.writeUInt16LE(tag, 0)
  chunk.writeUInt16LE(channels, 2)
  chunk.writeUInt32LE(rate, 4)
  chunk.writeUInt32LE((rate * channels * bits) / 8, 8)
  chunk.writeUInt16LE((channels * bits) / 8, 12)
  chunk.writeUInt16LE(bits, 14)
  if (subFormat !== undefined) chunk.writeUInt16LE(subFormat, 24)
  return ['fmt ', chunk]
}
