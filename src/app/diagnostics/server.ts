import type { Config } from '../../config/config.ts'
import { askRunningServer } from '../client/running-server.ts'
import { planListeners, type PlannedListener } from '../listen-addresses.ts'
import { tryConnect, type Diagnosis } from './diagnosis.ts'

const serverTimeoutMs = 5_000

/** The server that runs on the data folder, which may listen on another port than the configuration of this command names. */
export async function checkServer(config: Config): Promise<Diagnosis[]> {
  const answer = await askRunningServer(config, '/operator/server', serverTimeoutMs)
  if (answer === undefined) return []
  const { version, url } = JSON.parse(answer) as { readonly version: string; readonly url: string }
  return [{ part: 'server', state: 'ok', message: `version ${version} runs on the data folder, at ${url}` }]
}

export const checkPorts = (server: Config['server']): Promise<Diagnosis[]> =>
  Promise.all(planListeners(server).map(checkPort))

async function checkPort({ host, port }: PlannedListener): Promise<Diagnosis> {
  const where = `${host}:${port}`
  const failure = await tryConnect(host, port)
  if (failure === undefined)
    return { part: 'port', state: 'ok', message: `something listens on ${where} (perhaps a running Gatehouse)` }
  return { part: 'port', state: 'ok', message: `${where} is free` }
}
