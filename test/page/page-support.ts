import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { type Browser, chromium, type Page } from 'playwright-core'
import { CHROMIUM, chromiumArguments, withoutChromium } from '../support/chromium.js'
import { withoutWeb } from '../support/web.js'
import { example } from '../examples/run-example.js'

/** Why the page is not tested; false where it is. */
export const withoutPage: string | false = withoutWeb || withoutChromium

/** A browser, and the page's server. */
export interface Pages {
  readonly address: string
  readonly browser: Browser
  /** A page that notes what goes wrong in it. */
  open(options?: { readonly width?: number; readonly height?: number; readonly dark?: boolean; readonly path?: string }): Promise<Watched>
  close(): Promise<void>
}

export interface Watched {
  readonly page: Page
  /** Messages on the console, uncaught errors, and requests that failed or went elsewhere. */
  readonly faults: string[]
}

export async function startPages(): Promise<Pages> {
  const { pageServer } = (await import(new URL('../../page/serve.mjs', import.meta.url).href)) as { pageServer(): Server }
  const server = pageServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://localhost:${(server.address() as AddressInfo).port}/`
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: chromiumArguments(example('voice/talk.wav')) })
  return {
    address,
    browser,
    async open({ width = 1280, height = 900, dark = false, path = '' } = {}) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' })
      const faults: string[] = []
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()))
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('requestfailed', (request) => faults.push(`${request.url()}: ${request.failure()?.errorText}`))
      page.on(
        'request',
        (request) => !/^(blob|data):/.test(request.url()) && !request.url().startsWith(address) && faults.push(request.url()),
      )
      await page.goto(address + path)
      await page.locator('.status.ready').waitFor()
      return { page, faults }
    },
    async close() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Opens a file by the page's own field. */
export async function openFile(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  await page.setInputFiles('#file', { name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) })
}

export const digits = (): Buffer => readFileSync(example('digits/digits.ptl'))
