import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where a Chromium is: `PTLITE_CHROMIUM`, or where Debian puts it; undefined where there is none. */
export const CHROMIUM = process.env.PTLITE_CHROMIUM ?? PLACES.find((path) => existsSync(path))

export const withoutChromium: string | false =
  CHROMIUM === undefined ? 'there is no Chromium: apt-get install chromium, or set PTLITE_CHROMIUM' : false

/** Nothing of it asks for anything outside of this machine. `sound`: a WAV file in place of a microphone. */
export function chromiumArguments(sound: string): string[] {
  return [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${sound}`,
  ]
}
