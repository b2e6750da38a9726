import Type, { type TProperties, type TSchema } from 'typebox'

/** An object that has no other keys, so that a typo is an error. Every key has a default in `values.yaml`. */
const closed = <P extends TProperties>(properties: P) =>
  Type.Partial(Type.Object(properties), { additionalProperties: false })

/** A part of a Kubernetes object, which the API server checks. */
const object = Type.Object({}, { additionalProperties: true })
const objects = Type.Array(object)
const texts = Type.Record(Type.String(), Type.String())
const port = Type.Integer({ minimum: 1, maximum: 65_535 })
const count = Type.Integer({ minimum: 1 })
const quantity = Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$' })
const duration = Type.String({ pattern: '^[0-9]+(ms|s|m|h)$' })
/** The name of an object of the cluster. Empty: none. */
const name = Type.String({ pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$', maxLength: 253 })
const names = Type.Array(Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$', maxLength: 253 }))
/** The key of a Secret. */
const key = Type.String({ pattern: '^[-._a-zA-Z0-9]*$' })
const variables = <T extends TSchema>(value: T) =>
  Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), value, { additionalProperties: false })
const secretUrl = closed({ existingSecret: name, key, port })

/** The values of the Helm chart, without `config`. */
export const ChartValues = {
  image: closed({
    repository: Type.String(),
    tag: Type.String(),
    digest: Type.String({ pattern: '^(sha256:[0-9a-f]{64})?$' }),
    pullPolicy: Type.Enum(['Always', 'IfNotPresent', 'Never']),
    pullSecrets: names,
  }),
  fullnameOverride: name,
  secret: closed({ existingSecret: name, key, previousKey: key, nextKey: key }),
  database: secretUrl,
  redis: secretUrl,
  environment: closed({
    existingSecrets: names,
    variables: variables(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  }),
  secretFiles: names,
  secretsInValues: closed({
    enabled: Type.Boolean(),
    secret: Type.String(),
    databaseUrl: Type.String(),
    redisUrl: Type.String(),
    environment: variables(Type.String()),
  }),
  tls: closed({ existingSecret: name }),
  listenAddress: Type.String({ minLength: 1 }),
  admin: closed({ port: Type.Integer({ minimum: 0, maximum: 65_535 }) }),
  service: closed({ type: Type.Enum(['ClusterIP', 'NodePort', 'LoadBalancer']), port, annotations: texts }),
  drainSeconds: Type.Integer({ minimum: 0, maximum: 3600 }),
  firstKeysInLog: Type.Boolean(),
  replicas: count,
  workers: Type.Unsafe({ type: ['integer', 'string'], minimum: 1, maximum: 256, pattern: '^auto$' }),
  autoscaling: closed({
    enabled: Type.Boolean(),
    minReplicas: count,
    maxReplicas: count,
    targetCPUUtilizationPercentage: count,
  }),
  podDisruptionBudget: closed({
    enabled: Type.Boolean(),
    maxUnavailable: Type.Union([count, Type.String({ pattern: '^[0-9]+%$' })]),
  }),
  persistence: closed({ size: quantity, storageClass: name, existingClaim: name, spool: Type.Boolean() }),
  migrations: closed({
    enabled: Type.Boolean(),
    backoffLimit: Type.Integer({ minimum: 0 }),
    activeDeadlineSeconds: count,
  }),
  resources: object,
  serviceAccount: closed({ create: Type.Boolean(), name, annotations: texts }),
  ingress: closed({
    enabled: Type.Boolean(),
    className: name,
    host: Type.String(),
    path: Type.String({ pattern: '^/' }),
    pathType: Type.Enum(['Prefix', 'Exact', 'ImplementationSpecific']),
    annotations: texts,
    tls: closed({ existingSecret: name }),
  }),
  httpRoute: closed({
    enabled: Type.Boolean(),
    parentRefs: objects,
    hostnames: Type.Array(Type.String({ minLength: 1 })),
    prefix: Type.String({ pattern: '^/([^/]+(/[^/]+)*)?$' }),
    annotations: texts,
    timeouts: closed({ request: duration, backendRequest: duration }),
  }),
  networkPolicy: closed({
    enabled: Type.Boolean(),
    from: objects,
    adminFrom: objects,
    metricsFrom: objects,
    egress: closed({ enabled: Type.Boolean(), ports: Type.Array(port), rules: objects }),
  }),
  metrics: closed({
    port,
    serviceMonitor: closed({ enabled: Type.Boolean(), interval: duration, labels: texts }),
    prometheusRule: closed({ enabled: Type.Boolean(), labels: texts }),
    dashboards: closed({ enabled: Type.Boolean(), labels: texts }),
  }),
  podAnnotations: texts,
  podLabels: texts,
  priorityClassName: name,
  nodeSelector: texts,
  tolerations: objects,
  affinity: object,
  topologySpreadConstraints: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
  /** Helm passes it to every chart that is part of another chart. */
  global: object,
}
