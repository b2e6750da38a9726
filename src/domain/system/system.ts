/** A value of the configuration in force, without secrets. */
export type SystemSetting = {
  readonly key: string
  /** Null if it is not set, or hidden. */
  readonly value: string | number | boolean | readonly (string | number | boolean)[] | null
  readonly isHidden: boolean
  readonly origin: 'default' | 'file' | 'environment'
  readonly variable: string | null
  readonly isReloaded: boolean
  readonly description: string
}

export const findingStates = ['ok', 'warning', 'wrong'] as const

/** What a check of the installation found. */
export type SystemFinding = {
  readonly part: string
  readonly state: (typeof findingStates)[number]
  readonly message: string
  readonly fix?: string
}

/** The installation as this node sees it. */
export type SystemReport = {
  readonly startedAtMs: number
  /** The version of the JavaScript runtime. */
  readonly runtime: string
  /** The ids of the nodes that share the database and are alive. */
  readonly nodeIds: readonly string[]
  readonly storage: 'embedded' | 'postgresql'
  /** Where limits are counted. */
  readonly limits: string
  readonly configurationFile: string | null
  readonly settings: readonly SystemSetting[]
  readonly findings: readonly SystemFinding[]
}

export type ReadSystem = () => Promise<SystemReport>
