import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { example } from '../examples/run-example.js'
import { grownModel } from './grown-model.js'
import { digits, openFile, startPages, withoutPage } from './page-support.js'

/** The page in Chromium. */

/** In the page: controls in view that have no name, and how much wider than the window the page is. */
const NAMELESS_AND_WIDTH = `({
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  nameless: [...document.querySelectorAll('button, input, select, a[href], [role=img], [tabindex="0"]')]
    .filter((element) => element.checkVisibility())
    .filter(({ textContent, labels, ariaLabel, title }) => !(textContent?.trim() || ariaLabel || title || labels?.length))
    .map(({ outerHTML }) => outerHTML.slice(0, 120)),
})`

/** Asks for a story, and stops it when it has begun: it takes some tenths of a second. */
const STOPPED_AT_FIRST_PIECE = `new Promise((resolve) => {
  const log = document.querySelector('.messages')
  const button = (text) => [...document.querySelectorAll('button')].find(({ textContent }) => textContent === text)
  new MutationObserver((_, observer) => {
    if (!log.querySelector('li:nth-child(4) p')?.textContent) return
    observer.disconnect()
    button('Stop').click()
    resolve()
  }).observe(log, { subtree: true, childList: true, characterData: true })
  button('Tell me a story about a fox.').click()
})`

if (withoutPage !== false) {
  t.plan(0, withoutPage)
} else {
  const pages = await startPages()
  t.teardown(() => pages.close())
  // the machine may have other work
  t.setTimeout(480_000)

  const text = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText()
  const tab = (page: Page, id: string): Promise<void> => page.locator(`#tab-${id}`).click()

  t.test('a model is looked into, run and measured', async (t) => {
    const { page, faults } = await pages.open()
    await page.getByRole('button', { name: 'digits.ptl' }).click()
    await page.getByRole('heading', { name: 'digits.ptl' }).waitFor()
    t.match(await text(page, '.methods'), /forward\(pixels: Tensor\) → Tensor/)

    await tab(page, 'graph')
    await page.locator('.node').first().waitFor()
    await page.getByRole('searchbox', { name: /Search steps/ }).fill('batch_norm')
    await page.getByText('3 of 19 steps').waitFor()
    t.match(await text(page, '.node-detail'), /aten::batch_norm[\s\S]*features\.1\.weight/)
    const graph = page.locator('svg.graph')
    await graph.focus()
    await page.keyboard.press('ArrowDown')
    t.match(await text(page, '.node-detail'), /aten::relu/, 'an arrow key follows the edge')
    const place = (): Promise<string | null> => page.locator('svg.graph > g').getAttribute('transform')
    const [before] = [await place()]
    await page.keyboard.press('+')
    await page.waitForFunction(`document.querySelector('svg.graph > g').getAttribute('transform') !== ${JSON.stringify(before)}`)

    await tab(page, 'parameters')
    await page.getByRole('searchbox', { name: 'Search parameters' }).fill('classify weight')
    await page.getByText('1 of 20 tensors').waitFor()
    t.match(await text(page, '#panel-parameters tbody'), /classify\.2\.weight/)

    await tab(page, 'run')
    await page.locator('#argument-0').fill('ones uint8[1, 1, 8, 8]')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('float32[1, 10]').waitFor()
    t.equal(await page.locator('.output .top li').count(), 10, await text(page, '.output'))

    await tab(page, 'times')
    await page.getByRole('button', { name: 'Measure' }).click()
    await page.getByRole('heading', { name: 'Operators, interpreted' }).waitFor()
    t.match(await text(page, '#panel-times'), /Kernels/)
    await page.getByRole('button', { name: 'Show the times in the graph' }).click()
    await page.locator('.node .heat').first().waitFor()
    const details = await page.locator('.node .detail').allTextContents()
    t.ok(
      details.some((detail) => /^float32\[1, \d+, 8, 8\]$/.test(detail)),
      `sizes are those of the run: ${details.join(' ')}`,
    )

    await tab(page, 'memory')
    await page.getByRole('button', { name: 'Show the arena' }).click()
    await page.locator('svg.arena').focus()
    await page.keyboard.press('ArrowRight')
    t.match(await text(page, '.arena-said'), /kernel calls 1 to/)

    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByText('0 B in use').waitFor()
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('each format opens, and a picture is run', async (t) => {
    const { page, faults } = await pages.open()
    for (const [name, method] of [
      ['digits/digits.ff', 'forward'],
      ['detect/detector.pt', 'forward'],
      ['classify/shapes.pt2', 'forward'],
    ] as const) {
      await openFile(page, name, readFileSync(example(name)))
      await page.getByRole('heading', { name }).waitFor()
      t.match(await text(page, '.methods'), method)
      await tab(page, 'graph')
      await page.locator('.node').first().waitFor()
    }
    await tab(page, 'run')
    await page.getByRole('radio', { name: 'Picture' }).check({ force: true })
    await page.setInputFiles('#argument-0-picture', example('classify/triangle.jpg'))
    await page.getByLabel('Pixels as').selectOption('signed')
    await page.locator('.labels summary').click()
    await page.setInputFiles('#labels', example('classify/labels.txt'))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    t.match(await text(page, '.output .top li'), 'triangle')
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('two models are compared', async (t) => {
    const { page, faults } = await pages.open()
    await openFile(page, 'digits.ptl', digits())
    await tab(page, 'compare')
    await page.setInputFiles('#other-file', { name: 'digits.ff', mimeType: '', buffer: readFileSync(example('digits/digits.ff')) })
    await page.getByRole('button', { name: 'Run both' }).click()
    await page.getByText('Furthest apart').waitFor()
    t.match(await text(page, '#panel-compare'), /Furthest apart\s+0, 0 of the largest/)
    t.match(await text(page, '#panel-compare table.side'), /digits\.ptl\s+digits\.ff/)
    await page.setInputFiles('#other-file', { name: 'shapes.pt2', mimeType: '', buffer: readFileSync(example('classify/shapes.pt2')) })
    await page.getByRole('heading', { name: 'Parameters' }).last().waitFor()
    t.match(await text(page, '#panel-compare .table tbody tr'), /differs/)
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('models are opened by address, and links lead to them', async (t) => {
    const { page, faults } = await pages.open()
    await page.getByLabel('Address of a model').fill('models/digits.ptl')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByRole('heading', { name: 'digits.ptl' }).waitFor()
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    const hash = (): Promise<string> => page.evaluate('location.hash')
    const link = await hash()
    t.equal(link, '#/model?url=models%2Fdigits.ptl')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByLabel('Address of a model').waitFor()
    t.equal(await hash(), '#/model')
    await page.getByLabel('Address of a model').fill('ftp://example.com/x.ptl')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText('Addresses begin with https:, found ftp:').waitFor()
    t.strictSame(faults, [])
    await page.close()
    const again = await pages.open({ path: link })
    await again.page.getByRole('heading', { name: 'digits.ptl' }).waitFor()
    await again.page.close()
    // somebody else's link asks first
    const other = await pages.open({ path: '#/model?url=https%3A%2F%2Fexample.invalid%2Fnet.ptl' })
    await other.page.getByText('The link leads to a model on example.invalid').waitFor()
    t.strictSame(other.faults, [])
    await other.page.close()
  })

  t.test('what cannot be opened or run is said with its code', async (t) => {
    const { page, faults } = await pages.open()
    await openFile(page, 'package.json', Buffer.from('{"name": "no model"}'))
    await page.getByRole('alert').waitFor()
    t.match(await text(page, '.notice.error'), /package\.json cannot be opened[\s\S]*INVALID_FILE[\s\S]*found a text/)
    await openFile(page, 'cut.ptl', digits().subarray(0, 5000))
    await page.getByText('cut.ptl cannot be opened').waitFor()
    t.match(await text(page, '.notice.error'), /INVALID_FILE|UNSUPPORTED_FILE/)
    // a flatbuffer has no checksums
    const other = readFileSync(example('digits/digits.ff'))
    const name = Buffer.from('aten::max_pool2d')
    for (let at = other.indexOf(name); at >= 0; at = other.indexOf(name, at + 1)) other.write('aten::max_qool2d', at)
    await openFile(page, 'missing.ff', other)
    await page.getByRole('heading', { name: 'missing.ff' }).waitFor()
    t.match(await text(page, '.notice.error'), /MISSING_OPERATOR[\s\S]*aten::max_qool2d/)
    await tab(page, 'graph')
    await page.locator('.node.missing').first().waitFor()
    await tab(page, 'run')
    t.match(await text(page, '#panel-run'), /missing in this build: aten::max_qool2d/)
    await openFile(page, 'digits.ptl', digits())
    await tab(page, 'run')
    const run = page.getByRole('button', { name: 'Run', exact: true })
    await page.locator('#argument-0').fill('float32[1, 2, 3]')
    await run.click()
    await page.getByText('The run failed').waitFor()
    await page.locator('#argument-0').fill('float33[1]')
    await run.click()
    await page.getByText('There is no dtype float33').waitFor()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await page.getByRole('button', { name: 'Show where' }).click()
    t.equal(await page.evaluate('document.activeElement.id'), 'argument-0')
    await page.locator('#argument-0').fill('float32[1, 1, 8, 8]')
    await page.getByText('random numbers from -1 to 1').waitFor()
    t.strictSame(faults, [], 'the console stays empty')
    await page.close()
  })

  t.test('a file of 100 MB, while the page stays responsive', async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'large.ptl')
    writeFileSync(path, grownModel(example('digits/digits.ptl'), 100_000_000))
    t.ok(statSync(path).size > 100_000_000)
    const { page, faults } = await pages.open()
    await page.evaluate(() => {
      const times = ((globalThis as { gaps?: number[] }).gaps = [] as number[])
      let last = performance.now()
      setInterval(() => {
        const now = performance.now()
        times.push(now - last)
        last = now
      }, 10)
    })
    const began = performance.now()
    await page.setInputFiles('#file', path)
    await page.locator('.terms', { hasText: '100 MB' }).waitFor({ timeout: 120_000 })
    const took = performance.now() - began
    const longest = await page.evaluate(() => Math.max(...(globalThis as unknown as { gaps: number[] }).gaps))
    // a machine with other work has pauses of its own
    t.ok(longest < Math.max(2000, 0.8 * took), `the page was busy for ${Math.round(longest)} of ${Math.round(took)} ms at most`)
    await tab(page, 'run')
    await page.locator('#argument-0').fill('uint8[1, 1, 8, 8]')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('float32[1, 10]').waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByText('0 B in use').waitFor()
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('memory after 50 models', async (t) => {
    const { page, faults } = await pages.open()
    const folder = t.testdir({})
    const names = ['even.ptl', 'odd.ptl']
    for (const name of names) writeFileSync(join(folder, name), grownModel(example('digits/digits.ptl'), 4_000_000))
    const session = await page.context().newCDPSession(page)
    const heap = async (): Promise<{ bytes: number; nodes: number }> => {
      await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      const of = (name: string): number => metrics.find((metric) => metric.name === name)!.value
      return { bytes: of('JSHeapUsedSize'), nodes: of('Nodes') }
    }
    const worker = page.workers()[0]!
    const address = `${pages.address}ptlite/web.js`
    const tensors = (): Promise<{ live: number; peak: number }> =>
      worker.evaluate(async (url) => ((await import(url)) as { memoryStats(): { live: number; peak: number } }).memoryStats(), address)
    await session.send('Performance.enable')
    const openAndLook = async (i: number): Promise<void> => {
      const name = names[i % 2]!
      await page.setInputFiles('#file', join(folder, name))
      await page.getByRole('heading', { name }).waitFor()
      await tab(page, 'graph')
      // what is suggested for a run loads the model and calls it
      if (i % 10 !== 9) return
      await tab(page, 'run')
      await page.getByText('A guess from the weights').waitFor()
    }
    for (let i = 0; i < 10; i++) await openAndLook(i)
    const [first, firstTensors] = [await heap(), await tensors()]
    for (let i = 10; i < 50; i++) await openAndLook(i)
    const [last, lastTensors] = [await heap(), await tensors()]
    t.ok(last.bytes < first.bytes + 3e6, `${first.bytes} bytes of JavaScript after 10, ${last.bytes} after 50`)
    t.ok(last.nodes < first.nodes + 500, `${first.nodes} nodes after 10, ${last.nodes} after 50`)
    t.ok(lastTensors.live <= firstTensors.live + 1e5, `${firstTensors.live} bytes of tensors after 10, ${lastTensors.live} after 50`)
    t.ok(lastTensors.peak <= firstTensors.peak + 1e6, `at most ${lastTensors.peak}`)
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('a digit is drawn, by hand and by keys', async (t) => {
    const { page, faults } = await pages.open({ path: '#/digits' })
    const pad = page.locator('.pad')
    await pad.waitFor()
    const { x, y, width, height } = (await pad.boundingBox())!
    const at = (right: number, down: number): [number, number] => [x + width * right, y + height * down]
    await page.mouse.move(...at(0.5, 0.15))
    await page.mouse.down()
    for (const [right, down] of [
      [0.3, 0.25],
      [0.25, 0.5],
      [0.3, 0.75],
      [0.5, 0.85],
      [0.7, 0.75],
      [0.75, 0.5],
      [0.7, 0.25],
      [0.5, 0.15],
    ] as const)
      await page.mouse.move(...at(right, down), { steps: 4 })
    await page.mouse.up()
    await page.getByText('0', { exact: true }).and(page.locator('.digit')).waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('–').and(page.locator('.digit')).waitFor()
    await pad.focus()
    for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowUp')
    await page.keyboard.press(' ')
    for (let i = 0; i < 12; i++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press(' ')
    await page.getByText('1', { exact: true }).and(page.locator('.digit')).waitFor()
    t.match(await text(page, '.demo .card'), /% sure/)
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('a voice is heard by the microphone', async (t) => {
    const { page, faults } = await pages.open({ path: '#/voice' })
    await page.getByRole('button', { name: 'Start the microphone' }).click()
    await page.getByText('Voice', { exact: true }).and(page.locator('.voice-state')).waitFor()
    await page.locator('.segments li').nth(1).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Not listening').waitFor()
    for (const said of await page.locator('.segments li').allInnerTexts()) t.match(said, /^\d+\.\d s to \d+\.\d s$/)
    await page.getByRole('button', { name: 'Play a recording' }).click()
    // not what the microphone heard
    await page.getByText('Nothing yet').waitFor()
    await page.locator('.segments li').first().waitFor()
    const [from] = /[\d.]+/.exec(await text(page, '.segments li'))!
    t.ok(Math.abs(Number(from) - 0.8) < 0.15, `as in Node, it begins after ${from} s`)
    await page.goto(`${pages.address}#/model`)
    // what the model remembered goes when it is collected
    await page.getByText(/\d k?B in use/).waitFor()
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('digits are written down while they are spoken', async (t) => {
    const { page, faults } = await pages.open({ path: '#/numbers' })
    await page.getByRole('button', { name: 'Play a recording' }).click()
    await page.getByText('s of sound were read in').waitFor()
    await page.locator('.segments li').first().waitFor()
    t.equal(await text(page, '.segments li'), 'three one four two')
    await page.getByText('Not listening').waitFor()
    // its sound is no digits, but somebody speaks in it
    await page.getByRole('button', { name: 'Start the microphone' }).click()
    await page.getByText('Listening', { exact: true }).waitFor()
    await page.getByText('Nothing yet').waitFor()
    await page.getByText('s of sound were read in').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Not listening').waitFor()
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('a model answers, is stopped, and begins anew', async (t) => {
    const { page, faults } = await pages.open({ path: '#/chat' })
    const answers = page.locator('.message.assistant p')
    await page.getByLabel('Your question').fill('What does an owl eat?')
    await page.keyboard.press('Enter')
    await page.getByText('tokens a second').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    t.match(await answers.first().innerText(), /^An owl eats .*\.$/)
    await page.evaluate(STOPPED_AT_FIRST_PIECE)
    await page.getByRole('button', { name: 'Send' }).waitFor()
    t.match(await answers.nth(1).innerText(), /^Once[^.]*$/)
    await page.getByRole('button', { name: 'Begin anew' }).click()
    // when the worker has stopped what it was at
    await page.getByText('Ask something: it knows').waitFor()
    t.equal(await answers.count(), 0)
    await page.getByLabel('Other answers each time').check()
    await page.getByRole('button', { name: 'What colour is a frog?' }).click()
    await page.locator('.message.assistant p:not(:empty)').waitFor()
    await page.goto(`${pages.address}#/model`)
    await page.getByText(/\d k?B in use/).waitFor()
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('a recording of the microphone is run', async (t) => {
    const { page, faults } = await pages.open()
    await page.getByRole('button', { name: 'whistles.ptl' }).click()
    await page.getByRole('heading', { name: 'whistles.ptl' }).waitFor()
    await tab(page, 'run')
    await page.getByRole('radio', { name: 'Microphone' }).check({ force: true })
    await page.locator('#argument-0-form').selectOption('mel')
    await page.getByLabel('Mel bands').fill('32')
    await page.getByLabel('Window').fill('512')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('.output .top li').first().waitFor()
    t.match(await text(page, '.output'), /float32\[1, \d\]/)
    t.strictSame(faults, [])
    await page.close()
  })

  t.test('every control has a name, and narrow pages do not scroll sideways', async (t) => {
    const { page, faults } = await pages.open({ width: 400, height: 800, dark: true })
    const check = async (where: string): Promise<void> => {
      const { nameless, wide } = await page.evaluate<{ nameless: string[]; wide: number }>(NAMELESS_AND_WIDTH)
      t.strictSame(nameless, [], `names, ${where}`)
      t.ok(wide <= 0, `width, ${where}`)
    }
    await check('empty')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    t.ok(await page.evaluate(`document.activeElement.id === 'main'`), 'the first key leads to the content')
    await page.getByRole('button', { name: 'shapes.pt2' }).press('Enter')
    await page.locator('#tab-overview').focus()
    for (const id of ['overview', 'graph', 'parameters', 'run', 'times', 'memory']) {
      if (id !== 'overview') await page.keyboard.press('ArrowRight')
      t.equal(await page.locator(`#tab-${id}`).getAttribute('aria-selected'), 'true')
      await check(id)
    }
    await page.getByRole('button', { name: 'Show the arena' }).click()
    await page.locator('svg.arena').waitFor()
    await check('arena')
    for (const [path, heading] of [
      ['digits', 'Draw a digit'],
      ['voice', 'Is somebody speaking?'],
      ['numbers', 'Say some digits'],
      ['chat', 'Talk to a small model'],
    ]) {
      await page.goto(`${pages.address}#/${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await check(path!)
    }
    t.strictSame(faults, [])
    await page.close()
  })
}
