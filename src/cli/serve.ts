import { availableParallelism } from 'node:os'
import { workerCount } from '../config/worker-count.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { listenForStop } from './stop-signals.ts'
import { joinWorkers } from './workers/join.ts'

export const serve: Command = {
  summary: 'Start the gateway',
  usage: `gatehouse serve [--host ADDRESS] [--port PORT] [--config FILE] [--data-dir FOLDER] [--accept-loss]

  --host ADDRESS     the address to listen on; 127.0.0.1 unless configured
  --port PORT        the port to listen on; 8080 unless configured, 0 for any free one
  --config FILE      the configuration file; ./gatehouse.yaml unless set
  --data-dir FOLDER  the folder of the embedded database; ./data unless configured
  --accept-loss      start although the redo log is damaged after a crash; the audit log records what is lost

All other settings come from the configuration file and the environment; docs/configuration.md lists them.`,
  settings: { '--host': 'GATEHOUSE_HOST', '--port': 'GATEHOUSE_PORT' },
  async run(context) {
    const { args, config, env, isTerminal = false } = context
    const worker = joinWorkers(env)
    try {
      const { values } = readArguments(args, { 'accept-loss': { type: 'boolean' } })
      const settings = config()
      const count = worker === undefined ? workerCount(settings, availableParallelism()) : 1
      if (count > 1) {
        const { superviseWorkers } = await import('./workers/supervise.ts')
        return await superviseWorkers({ count, logLevel: settings.log.level, isTerminal, stop: listenForStop(env) })
      }
      // Loaded here, because the supervisor of workers does not need it.
      const { serveApp } = await import('./serve-app.ts')
      return await serveApp(context, settings, { acceptsLoss: values['accept-loss'] === true, worker })
    } finally {
      worker?.leave()
    }
  },
}
