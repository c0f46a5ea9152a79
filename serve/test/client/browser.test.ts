import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import t from 'tap'

t.test('the client is one small module without dependencies, for browsers', async (t) => {
  const entry = fileURLToPath(new URL('../../client/index.ts', import.meta.url))
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    logLevel: 'silent',
  })
  t.ok(Object.keys(metafile.inputs).every((path) => path.includes('serve/client/')))
  const source = outputFiles[0]!.text
  t.notMatch(source, /\b(?:process|Buffer|require|__dirname)\b/)
  t.ok(source.length < 20_000, `${source.length} bytes`)
  const { InferenceClient } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as typeof import('../../client/index.js')
  t.equal(await new InferenceClient('http://127.0.0.1:1').live(), false)
})
