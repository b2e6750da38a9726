import { compact } from '../app/storage/compact.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'

export const compactCommand: Command = {
  summary: 'Compress old audit events, and give free disk back',
  usage: `gatehouse compact [--json]

Events of requests are compressed while the server runs, but not those that version 0.2.0 wrote. This command compresses them, too.
With embedded storage it then writes the database again without free space: stop the server first, and have as much free disk as
the database is large. With PostgreSQL the servers may run, and PostgreSQL uses the space again for new rows.`,
  async run({ args, config, print, progress }) {
    const { values } = readArguments(args, { json: { type: 'boolean' } })
    const { packed, file } = await compact(config(), (done) => progress?.(`compressed ${done} events`))
    if (values.json) {
      const sizes = file && { bytes_before: file.bytesBefore, bytes_after: file.bytesAfter }
      print(JSON.stringify({ events_compressed: packed, ...sizes }, null, 2))
      return 0
    }
    print(`Events compressed: ${packed}.`)
    if (file) print(`The database had ${megabytes(file.bytesBefore)} and has ${megabytes(file.bytesAfter)}.`)
    else print('To give the space back to the disk, run in PostgreSQL: vacuum full audit_event. Requests wait for it.')
    return 0
  },
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
