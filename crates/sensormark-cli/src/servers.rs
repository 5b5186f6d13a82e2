//! temporary
use crate::arguments::ServersArguments; use crate::failure::Failure; use std::process::ExitCode;
/// t
pub fn servers(_a: &ServersArguments) -> Result<ExitCode, Failure> { Ok(ExitCode::SUCCESS) }
