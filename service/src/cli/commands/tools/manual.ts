// offerbook manual: prints the manual page offerbook(1), built from the --help of every command.

import type { Command } from 'commander';
import { VERSION_TEXT } from '../../../domain/build.ts';
import { plainCommand } from '../../command.ts';
import { print } from '../../output.ts';
import { type CommandHelp, type OptionHelp, readHelp } from './command-help.ts';

export function manualCommand(loadProgram: () => Promise<Command>): Command {
  const example = 'offerbook manual > /usr/local/share/man/man1/offerbook.1';
  return plainCommand('manual', 'print the manual page offerbook(1)', example).action(async () =>
    print(manualPage(readHelp(await loadProgram()))),
  );
}

const EXIT_CODES = [
  ['0', 'Success.'],
  ['1', 'Unexpected failure, or the database or service is unreachable.'],
  ['2', 'Wrong usage or invalid input.'],
  ['3', 'Refused by a safety check.'],
] as const;

function manualPage([program, ...commands]: readonly CommandHelp[]): string {
  if (program === undefined) throw new Error('there is no program');
  return [
    `.TH OFFERBOOK 1 "" "offerbook ${text(VERSION_TEXT)}" "User Commands"`,
    '.SH NAME',
    'offerbook \\- retailers, offers and transactions over HTTP',
    '.SH SYNOPSIS',
    '.B offerbook',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    text('A running service has guides and an API reference at /docs.'),
    '.SH OPTIONS',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, text(meaning)]),
    '.SH ENVIRONMENT',
    text(
      'Every option of serve can be set with a variable, such as OFFERBOOK_PORT for --port; the option takes precedence. OFFERBOOK_DATABASE_URL sets the database of every command.',
    ),
    '',
  ].join('\n');
}

function commandLines({ usage, description, options }: CommandHelp): string[] {
  return [
    `.SS ${text(usage)}`,
    text(`${description.charAt(0).toUpperCase()}${description.slice(1)}.`),
    ...options.filter(({ flags }) => !flags.includes('--help')).flatMap(optionLines),
  ];
}

function optionLines({ flags, value, description }: OptionHelp): string[] {
  const names = flags.map((flag) => text(flag)).join(', ');
  return ['.TP', value === '' ? `.B ${names}` : `.BI "${names} " ${text(value)}`, text(description)];
}

/** Escapes text for roff: backslashes, hyphens, double quotes, and a dot or apostrophe at the start of a line. */
function text(plain: string): string {
  const escaped = plain.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
