import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isModelFile } from '../../serve/src/repository/names.js'
import { openSource } from '../../formats/containers/bytes.js'
import { OpenedFile } from '../../formats/containers/opened-file.js'
import { extensionsText, findFormat, formatOf, formats, kinds, labelOf, withoutExtension } from '../../formats/registry.js'
import { PtliteError } from '../../runtime/error.js'
import { fixturePath } from '../module/fixtures.js'
import { zip } from '../module/zip-writer.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value))

function opened(file: string | Uint8Array): OpenedFile {
  return new OpenedFile(openSource(file))
}

t.test('a file is of the format that its content says', async (t) => {
  for (const [name, format] of [
    ['control.ptl', 'ptl'],
    ['control.ff', 'ff'],
    ['torchscript.pt', 'torchscript'],
    ['pt2/control.pt2', 'pt2'],
    ['pte/net.pte', 'pte'],
  ] as const) {
    const file = opened(fixturePath(name))
    t.equal(formatOf(file).name, format)
    file.source.close()
  }
  t.equal(formatOf(opened(Buffer.from('PTLC\r\n\x1a\n', 'latin1'))).holds, 'plans')
})

t.test('a zip is told by its records', async (t) => {
  const bytecode = opened(zip([{ name: 'm/bytecode.pkl', data: text('x') }]))
  t.equal(findFormat(bytecode)?.name, 'ptl')
  t.equal(bytecode.zip, bytecode.zip, 'whose directory is read once')
  for (const [name, format] of [
    ['m/constants.pkl', 'torchscript'],
    ['m/archive_format', 'pt2'],
    ['serialized_exported_program.json', 'pt2'],
  ] as const)
    t.equal(findFormat(opened(zip([{ name, data: text('x') }])))?.name, format, name)
  const cases = { 'm/model.json': /before PyTorch 1\.4/, 'm/data.pkl': /torch\.save/, 'm/other': /is not a module/ }
  for (const [name, message] of Object.entries(cases)) {
    const file = opened(zip([{ name, data: text('x') }]))
    t.equal(findFormat(file), undefined)
    t.throws(() => formatOf(file), { message })
  }
})

t.test('what is no model is refused by the label of its source', async (t) => {
  for (const bytes of ['', 'hello world', '\x80\x02}', 'PK\x03\x04 and no directory']) {
    try {
      formatOf(opened(Buffer.from(bytes, 'latin1')))
      t.fail(bytes)
    } catch (error) {
      t.ok(error instanceof PtliteError && error.code.endsWith('_FILE'), bytes)
      t.match((error as Error).message, /^the model: /)
    }
  }
})

t.test('each format that can be run has a folder with its reader, and a name and label of its own', async (t) => {
  for (const { name } of formats()) t.ok(existsSync(`${root}formats/${name}/read.ts`), name)
  t.equal(new Set(formats().map(({ name }) => name)).size, formats().length)
  t.equal(new Set(formats().map(({ name }) => labelOf(name))).size, formats().length)
})

t.test('texts name the ends of all formats, and packages beside the library know them', async (t) => {
  t.equal(extensionsText(), '.ptl, .pt2, .pt, .ff or .pte')
  t.equal(
    extensionsText(({ name }) => name === 'ff'),
    '.ff',
  )
  t.strictSame([kinds()[0], kinds().at(-1)], ['mobile modules (.ptl, .ff)', 'compiled models (.ptlc)'])
  t.equal(withoutExtension('a.b.pth'), 'a.b')
  t.equal(withoutExtension('a.bpte'), 'a')
  t.equal(withoutExtension('a.onnx'), 'a.onnx')
  const page = readFileSync(`${root}page/src/model/page.js`, 'utf8')
  for (const { name, extension, otherExtensions = [], fuzz } of formats()) {
    t.ok(existsSync(`${root}test/hostile/${fuzz}/target.ts`), `what fuzzes ${name}`)
    t.ok(page.includes(`['${extension}',`), `the page knows ${extension}`)
    for (const end of [extension, ...otherExtensions]) t.ok(isModelFile(`model${end}`), `servers know ${end}`)
  }
})
