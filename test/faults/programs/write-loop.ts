import { openSqlite } from '../../../src/adapters/stores/sql/sqlite/sqlite.ts'

// Writes steps of two statements from several writers until it is killed, and prints the id of each once it is durable.
const [dataDir = '', round = '', log] = process.argv.slice(2)
const writerCount = 8

const database = await openSqlite({ dataDir, hasRedoLog: log === 'redo-log' })
await Promise.all(Array.from({ length: writerCount }, (_, writer) => writeForEver(writer)))

async function writeForEver(writer: number): Promise<never> {
  for (let count = 0; ; count++) {
    const id = `${round}-${writer}-${count}`
    await database.write([
      { sql: 'insert into entry (id) values ($1)', params: [id] },
      { sql: 'update total set entries = entries + 1', expect: 1 },
    ])
    process.stdout.write(`${id}\n`)
  }
}
