import { replaceFiles } from '../../codegen/replace-files.js'

// WRITE_CHILD: [[path, length], ...]; prints the error
const wanted = JSON.parse(process.argv[2]!) as [string, number][]
console.log('ready')
try {
  await replaceFiles(new Map(wanted.map(([path, length]) => [path, Buffer.alloc(length, 'new ')])))
} catch (error) {
  const { code, message } = error as { code?: string; message: string }
  console.log(JSON.stringify({ code, message }))
  process.exitCode = 1
}
