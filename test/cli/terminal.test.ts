import t, { type Test } from 'tap'
import { during, red } from '../../src/cli/terminal.js'

/** What is written to stderr while `run` has one that is a terminal, or is not. */
async function written(t: Test, isTTY: boolean, run: () => Promise<unknown>): Promise<string> {
  const texts: string[] = []
  const before = process.stderr.isTTY
  const captured = t.capture(process.stderr, 'write', (text: string) => texts.push(text) > 0)
  process.stderr.isTTY = isTTY
  try {
    await run()
  } finally {
    process.stderr.isTTY = before
    captured.restore()
  }
  return texts.join('')
}

t.test('what goes on is said on a terminal alone, and taken back', async (t) => {
  const work = (): Promise<number> => during('loading x.ptl', () => Promise.resolve(3))
  t.equal(await written(t, false, async () => t.equal(await work(), 3)), '')
  t.equal(await written(t, true, work), '\r\x1b[Kloading x.ptl ...\r\x1b[K')
  const failing = (): Promise<void> =>
    t.rejects(
      during('x', () => Promise.reject(new Error('no'))),
      { message: 'no' },
    ) as unknown as Promise<void>
  t.equal(await written(t, true, failing), '\r\x1b[Kx ...\r\x1b[K')
})

t.test('colours are for terminals whose users want them', async (t) => {
  const { NO_COLOR, TERM } = process.env
  t.teardown(() => Object.assign(process.env, { NO_COLOR: NO_COLOR ?? '', TERM: TERM ?? '' }))
  const coloured = async (isTTY: boolean, noColor: string, term: string): Promise<string> => {
    Object.assign(process.env, { NO_COLOR: noColor, TERM: term })
    let text = ''
    await written(t, isTTY, () => Promise.resolve((text = red('x'))))
    return text
  }
  t.equal(await coloured(true, '', 'xterm'), '\x1b[31mx\x1b[39m')
  t.equal(await coloured(true, '1', 'xterm'), 'x')
  t.equal(await coloured(true, '', 'dumb'), 'x')
  t.equal(await coloured(false, '', 'xterm'), 'x')
})
