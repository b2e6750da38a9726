export function canInstall(): boolean
export function install(packages: readonly string[]): void
