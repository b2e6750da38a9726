import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { readConfig, type Config } from '../../src/config/config.ts'
import type { KubernetesObject } from './kubernetes-schemas.ts'

export const chartFolder = join(import.meta.dirname, '../../deploy/helm/gatehouse')

/** A folder and `helm` in it, as `scripts/peers/helm.ts` prepares them. */
export const helmFolder = process.env['PEER_HELM'] ?? ''

export type Volume = {
  readonly name: string
  readonly configMap?: { readonly name: string }
  readonly secret?: { readonly secretName: string }
  readonly projected?: {
    readonly sources: readonly { secret: { name: string; items: readonly { key: string; path: string }[] } }[]
  }
}

export type Container = {
  readonly args: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string } }
  }[]
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext: object
  readonly resources: { readonly requests?: object; readonly limits?: object }
}

/** The pod of an object, or the one that it creates. */
export type Pod = {
  readonly from: KubernetesObject
  readonly labels: Readonly<Record<string, string>>
  readonly volumes: readonly Volume[]
  /** Names of the volumes that a StatefulSet adds. */
  readonly claims: readonly string[]
  readonly container: Container
  readonly spec: Readonly<Record<string, unknown>>
}

/** Runs Helm without a cluster. */
export function helm(args: readonly string[]): { readonly isSuccess: boolean; readonly output: string } {
  const env = { PATH: process.env['PATH'], HELM_CACHE_HOME: '/nonexistent', HELM_CONFIG_HOME: '/nonexistent' }
  const { status, stdout, stderr, error } = spawnSync(join(helmFolder, 'helm'), args, { encoding: 'utf8', env })
  if (error) throw error
  return { isSuccess: status === 0, output: status === 0 ? stdout : stderr }
}

/** Renders the chart. A program that is built from a Go module does not know the current version of Kubernetes. */
export const template = (args: readonly string[], chart = chartFolder) =>
  helm(['template', 'gatehouse', chart, '--namespace', 'gateways', '--kube-version', '1.36.0', ...args])

/** The objects of a rendering. */
export function objectsOf({ isSuccess, output }: { isSuccess: boolean; output: string }): KubernetesObject[] {
  if (!isSuccess) throw new Error(output)
  return parseAllDocuments(output).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(String(document.errors[0]))
    const object = document.toJS() as KubernetesObject | null
    return object === null ? [] : [object]
  })
}

type PodTemplate = { readonly metadata: { labels: Record<string, string> }; readonly spec: PodSpec }
type PodSpec = { readonly volumes?: readonly Volume[]; readonly containers: readonly [Container] }
type Workload = {
  readonly template: PodTemplate
  readonly volumeClaimTemplates?: readonly { metadata: { name: string } }[]
}

export function podsOf(objects: readonly KubernetesObject[]): Pod[] {
  return objects.flatMap((from) => {
    if (!['Pod', 'Deployment', 'StatefulSet', 'Job'].includes(from.kind)) return []
    const workload = from['spec'] as Workload
    const { metadata, spec } = from.kind === 'Pod' ? (from as unknown as PodTemplate) : workload.template
    const claims = (workload.volumeClaimTemplates ?? []).map((claim) => claim.metadata.name)
    const [container] = spec.containers
    return [{ from, labels: metadata.labels, volumes: spec.volumes ?? [], claims, container, spec: { ...spec } }]
  })
}

const secretTexts: Readonly<Record<string, string>> = {
  'database-url': 'postgres://user:password@database/gatehouse',
  'redis-url': 'redis://redis',
}

/** The configuration that the program in a pod reads: its files are written below a folder, and its variables point to them. */
export function configIn(root: string, pod: Pod, objects: readonly KubernetesObject[]): Config {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const moved = (text: string): string => text.replaceAll('/etc/gatehouse', `${root}/etc/gatehouse`)
  for (const { name, mountPath } of pod.container.volumeMounts ?? []) {
    const volume = pod.volumes.find((each) => each.name === name)
    const map = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume?.configMap?.name)
    for (const [file, text] of Object.entries((map?.['data'] ?? {}) as Record<string, string>)) {
      write(join(mountPath, file), moved(text))
      for (const [, path = ''] of text.matchAll(/\$\{file:([^}]+)\}/g)) write(path, 'a key')
    }
    for (const { path } of volume?.projected?.sources.flatMap(({ secret }) => secret.items) ?? [])
      write(join(mountPath, path), secretTexts[path] ?? `a secret of the test called ${path}`)
  }
  const variables = (pod.container.env ?? []).map(({ name, value }) => [name, moved(value ?? 'secret')] as const)
  return readConfig(Object.fromEntries(variables))
}
