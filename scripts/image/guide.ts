/** The words of the `docker run` command in a guide. */
export function dockerRunIn(guide: string): string[] {
  const [, command = ''] = /^(docker run (?:.*\\\n)*.*)$/m.exec(guide) ?? []
  return command.replaceAll('\\\n', ' ').split(/\s+/)
}
