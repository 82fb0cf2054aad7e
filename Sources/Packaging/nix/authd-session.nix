# authd from the archive that `make tarball` makes, for Nix:
#   nix-build --expr '(import <nixpkgs> { config.allowUnfree = true; }).callPackage ./authd-session.nix
#       { archive = ./authd-session-….tar.xz; }'
# allowUnfree: no licence has been chosen yet, and nixpkgs refuses such packages otherwise.
# Not from its sources: nixpkgs has no Swift that is new enough.
{
  lib,
  stdenv,
  autoPatchelfHook,
  glib,
  libsecret,
  sqlite,
  systemd,
  zlib,
  archive,
}:

stdenv.mkDerivation {
  pname = "authd-session";
  version = "0.1.0";
  src = archive;

  nativeBuildInputs = [ autoPatchelfHook ];
  # What authd and authd-gateway are linked with; authc and authc-full are static.
  buildInputs = [
    glib
    libsecret
    sqlite
    stdenv.cc.cc.lib
    systemd
    zlib
  ];

  dontConfigure = true;
  dontBuild = true;
  # They were stripped when the archive was made.
  dontStrip = true;

  installPhase = ''
    runHook preInstall
    mkdir -p $out
    cp -r bin lib libexec share $out/
    substituteInPlace $out/lib/systemd/user/*.service --replace-quiet /usr/local/bin $out/bin
    runHook postInstall
  '';

  meta = {
    description = "Per-user agent that holds sign-in sessions";
    mainProgram = "authc";
    # The owner has not chosen a licence yet; share/doc/authd-session/copyright has those of what is linked in.
    license = lib.licenses.unfree;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
