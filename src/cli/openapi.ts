import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../app.ts'
import { checkConfig } from '../config/config.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'

export const openapi: Command = {
  summary: 'Print the OpenAPI description',
  usage: 'gatehouse openapi > openapi.json',
  async run({ args, printData }) {
    readArguments(args, { json: { type: 'boolean' } })
    // The description is generated from the routes of an app; an app on an empty folder has all of them.
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
    try {
      const config = { storage: { data_dir: folder }, moderation: { encoder: 'off' }, log: { level: 'silent' } }
      await using app = await createApp(checkConfig(config), {})
      printData(JSON.stringify(app.openapi(), null, 2))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    return 0
  },
}
