// What Node starts as Node is started through the emulator, too.
process.execPath = require('node:path').join(__dirname, 'node.sh')
